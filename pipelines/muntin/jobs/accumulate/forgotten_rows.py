"""Rows of forgotten keys are left out of what is read, as `where` leaves rows out: they are counted, and they
move the watermark.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from muntin.definition.instants import BEFORE_ALL
from muntin.errors import StateError
from muntin.jobs.state.forgotten import forgotten, hashed
from muntin.jobs.state.forgotten_log import put_back
from muntin.sources.reading.lift import key_columns
from muntin.sources.reading.scan import aliased
from muntin.states.columns import EVENT_TIME, SOURCE_ROWS
from muntin.states.forgotten_keys import refused_among, untils

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from muntin.jobs.state.bound import Bound
    from muntin.sources.reading.refused_rows import Taken
    from muntin.sources.source import Columns

_TABLE, _UNTIL, _AGAIN = "muntin_forgotten", "muntin_until", b"muntin_counted_again"


def with_forgotten(bound: Bound) -> Bound:
    """The pipeline state with the forgotten keys. What a folder of the memory lacks is put back.

    A key that was forgotten by a column that is no key of the definition any more is an error.
    """
    put_back(bound.home)
    hashed_keys = hashed(bound, forgotten(bound.home))
    for columns in hashed_keys.columns:
        if lacks := [name for name in columns if name not in bound.pipeline.keys]:
            raise StateError(
                f"{bound.pipeline.name}: keys were forgotten by {lacks[0]!r}, which is no key of this"
                " definition, so that nobody can tell their rows; keep it among the keys, or end that:"
                " muntin forget FILE --undo, by the definition that has it"
            )
    return replace(bound, forgotten=hashed_keys)


class LeftOut(NamedTuple):
    """Rows that are left out.

    Attributes:
        times: the times that are taken, with a condition on rows of forgotten keys.
        rows: how many accepted rows are left out.
        again: the number of the event by which accepted rows of once forgotten keys count again; 0: there are
            none.
    """

    times: Taken
    rows: int = 0
    again: int = 0

    def marked(self, states: pa.Table) -> pa.Table:
        """States with rows that count again are of another name than the same states were before the keys
        were forgotten.

        Windows were published from these, without the keys: an equal name would say that there is nothing to
            derive.
        """
        return (
            states.replace_schema_metadata({**(states.schema.metadata or {}), _AGAIN: str(self.again)})
            if self.again
            else states
        )


def left_out(session: DuckDBPyConnection, bound: Bound, rows: str, columns: Columns, times: Taken) -> LeftOut:
    """The rows of forgotten keys among the rows of a reading, a relation with the source's columns and
    `EVENT_TIME`.

    Rows with other times than `times` are refused, and not counted here.
    """
    if not bound.forgotten:
        return LeftOut(times)
    keys = key_columns(bound.pipeline, columns)
    accepted = f"FROM {rows} AS {SOURCE_ROWS} WHERE {times.condition}"
    key_table = session.sql(f"SELECT DISTINCT {aliased(keys)} {accepted}").to_arrow_table()
    until = untils(key_table, bound.forgotten)
    if not (until > BEFORE_ALL).any():
        return LeftOut(times)
    names = [f"{_TABLE}_{at}" for at in range(len(keys))]
    keys_until = key_table.rename_columns(names).append_column(_UNTIL, pa.array(until))
    session.register(_TABLE, keys_until.filter(pa.array(until > BEFORE_ALL)))
    same = " AND ".join(
        f"{name} IS NOT DISTINCT FROM {sql}" for name, sql in zip(names, keys.values(), strict=True)
    )
    gone = f"EXISTS (FROM {_TABLE} WHERE {same} AND {EVENT_TIME} < {_UNTIL})"
    counts = f"count(*) FILTER ({gone}), count(*) FILTER (EXISTS (FROM {_TABLE} WHERE {same}))"
    left, every = session.execute(f"SELECT {counts} {accepted}").fetchall()[0]
    return LeftOut(times._replace(forgotten=gone), left, bound.forgotten.number if every > left else 0)


def refused_left(bound: Bound, refused: pa.Table) -> pa.Table:
    """The refused rows, as the quarantine has them, that are of no forgotten key."""
    return (
        refused.filter(pa.array(~refused_among(refused["row"].to_pylist(), bound.forgotten)))
        if bound.forgotten
        else refused
    )
