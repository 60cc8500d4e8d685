"""Rows of forgotten keys are left out of what is read, as `where` leaves rows out: they are counted, and they move the watermark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.definition.instants import BEFORE_ALL
from muntin.errors import StateError
from muntin.jobs.state.forgotten import forgotten, hashed
from muntin.sources.reading.lift import key_columns
from muntin.sources.reading.scan import quoted
from muntin.states.columns import EVENT_TIME, SOURCE_ROWS
from muntin.states.forgotten_keys import untils
from muntin.states.quarantined_keys import refused_among

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from muntin.jobs.state.bound import Bound
    from muntin.sources.reading.taken_times import Taken

_TABLE, _UNTIL = "muntin_forgotten", "muntin_until"


def with_forgotten(bound: Bound) -> Bound:
    """The pipeline state that knows which keys are forgotten.

    Raises:
        StateError: that cannot be read; or a key was forgotten by a column that is no key of the definition any more.
    """
    known = hashed(bound, forgotten(bound))
    for columns in known.columns:
        if lacks := [name for name in columns if name not in bound.pipeline.keys]:
            raise StateError(
                f"{bound.pipeline.name}: keys were forgotten by {lacks[0]!r}, which is no key of this definition, so that nobody can tell "
                f"their rows; keep it among the keys, or end that: muntin forget FILE --undo, by the definition that has it"
            )
    return replace(bound, forgotten=known)


def leaving_out(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str, columns: Mapping[str, str], times: Taken) -> tuple[Taken, int]:
    """The times that are taken, with a condition on rows of forgotten keys; and how many accepted rows these are.

    Args:
        session: of DuckDB.
        bound: the pipeline state, as `with_forgotten` gives it.
        rows: the relation with the source's columns and `EVENT_TIME`.
        columns: name -> SQL type of the source's columns.
        times: rows with other times are refused.
    """
    if not bound.forgotten:
        return times, 0
    keys = key_columns(bound.pipeline, columns)
    chosen = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in keys.items())
    found = session.sql(f"SELECT DISTINCT {chosen} FROM {rows} AS {SOURCE_ROWS} WHERE {times.condition}").to_arrow_table()
    until = untils(found, bound.forgotten)
    if not (until > BEFORE_ALL).any():
        return times, 0
    names = [f"{_TABLE}_{at}" for at in range(len(keys))]
    told = found.rename_columns(names).append_column(_UNTIL, pa.array(until))
    session.register(_TABLE, told.filter(pa.array(until > BEFORE_ALL)))
    same = " AND ".join(f"{name} IS NOT DISTINCT FROM {sql}" for name, sql in zip(names, keys.values(), strict=True))
    gone = f"EXISTS (FROM {_TABLE} WHERE {same} AND {EVENT_TIME} < {_UNTIL})"
    count = session.execute(f"SELECT count(*) FROM {rows} AS {SOURCE_ROWS} WHERE {times.condition} AND {gone}").fetchall()[0][0]
    return replace(times, forgotten=gone), count


def refused_left(bound: Bound, refused: pa.Table) -> pa.Table:
    """The refused rows, as the quarantine has them, that are of no forgotten key."""
    return refused.filter(pa.array(~refused_among(refused["row"].to_pylist(), bound.forgotten))) if bound.forgotten else refused
