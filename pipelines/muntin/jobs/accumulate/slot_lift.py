"""Large splits: rows become states in slots, not in DuckDB's hash table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa

from muntin.sources.reading.row_values import (
    keys_fit,
    row_values,
    typed_values,
    values_of_columns,
    values_query,
)
from muntin.sources.sessions.duckdb_session import described
from muntin.states.columns import EVENT_TIME, FIRST_EVENT, FRAME, INSTANT, LAST_EVENT
from muntin.states.frames import frame_numbers
from muntin.states.rows_in_slots import OutgrownError, rows_in_slots
from muntin.states.slot_tables import Dense, Lifted, Linked, fits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muntin.definition.frame_sets import FrameSet
    from muntin.jobs.state.bound import Bound
    from muntin.sources.reading.refused_rows import Taken
    from muntin.sources.source import Columns
    from muntin.states.derived_columns import Extent
    from muntin.states.rows_in_slots import LiftedStates
    from muntin.states.slot_tables import Layout

_AT_ONCE = 2**17
_ARROW = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
}
_ARROW["TIMESTAMP WITH TIME ZONE"] = INSTANT


def slot_lift(
    session: duckdb.DuckDBPyConnection,
    bound: Bound,
    frames: FrameSet,
    rows: str,
    columns: Columns,
    times: Taken,
    extent: Extent,
    types: tuple[Columns, Columns],
) -> LiftedStates | None:
    """The states of a frame set, sorted, as `states` would give them; None where DuckDB has to group the
    rows.

    `extent`: how many rows there are at most, and between which times. `types`: column -> SQL type, as
    DuckDB's aggregates have it, and as the state has it. A row that cannot be computed raises duckdb.Error.
    """
    pipeline, kinds = bound.pipeline, types[1]
    values = row_values(bound.fields, frames)
    if values is None or not keys_fit(pipeline, kinds):
        return None
    asked = (pipeline, rows, times, columns)
    keys = {key: kinds[key] for key in pipeline.keys}
    expressions = dict.fromkeys(sql for each in values.values() for sql in (each.sql, each.by) if sql)
    of = described(
        session, values_query(*asked, {_name(at): sql for at, sql in enumerate(expressions)}, keys)
    )
    typed = typed_values(values, {sql: of[_name(at)] for at, sql in enumerate(expressions)}, *types)
    if typed is None:
        return None
    filled = values_of_columns(typed)
    column_sql = dict.fromkeys([*filled.values(), *(each.by for each in typed.values() if each.by)])
    names = {sql: _name(at) for at, sql in enumerate(column_sql) if sql != EVENT_TIME}
    query = values_query(*asked, {name: sql for sql, name in names.items()}, keys)
    lifted = {
        column: Lifted(value.what, names.get(filled[column], EVENT_TIME), names.get(value.by, ""))
        for column, value in typed.items()
    }
    states = _in_slots(
        lambda: session.sql(query).to_arrow_reader(_AT_ONCE),
        pipeline.keys,
        lifted,
        extent,
        _layouts(frames, extent),
    )
    if states is None:
        return None
    arrow = {
        name: _ARROW.get(kind) for name, kind in kinds.items() if name not in (FRAME, FIRST_EVENT, LAST_EVENT)
    }
    schema = pa.schema(
        [field.with_type(arrow.get(field.name) or field.type) for field in states.table.schema]
    )
    return states._replace(table=states.table.cast(schema))


def _in_slots(
    read: Callable[[], pa.RecordBatchReader],
    keys: Sequence[str],
    lifted: Mapping[str, Lifted],
    extent: Extent,
    ways: Sequence[Callable[[], Layout]],
) -> LiftedStates | None:
    """The states in the first layout that is not outgrown; each is tried with all rows."""
    while ways:
        layouts = [way() for way in ways]
        try:
            with read() as reader:
                return rows_in_slots(_batches(reader), keys, EVENT_TIME, lifted, extent, layouts)
        except OutgrownError as outgrown:
            ways = ways[layouts.index(outgrown.args[0]) + 1 :]
        except _CutShortError:
            return None
    return None


class _CutShortError(Exception):
    """A row cannot be read or computed. Groups meet it, too, and say so."""


def _batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The record batches of a reader of DuckDB.

    Errors after its first rows come as Arrow's, without their class: as `_CutShortError`.
    """
    try:
        yield from reader
    except (OSError, pa.ArrowException) as wrong:
        # a text in a row may hold these words, too, but not at the beginning
        if str(wrong).startswith("INTERRUPT Error"):
            raise duckdb.InterruptException(str(wrong)) from wrong
        raise _CutShortError from wrong


def _layouts(frames: FrameSet, extent: Extent) -> list[Callable[[], Layout]]:
    """The ways of laying out slots for some rows that are worth a try, the cheapest first."""
    first, last = frame_numbers(np.array([extent.oldest, extent.newest]), frames.cycle).tolist()
    count = last - first + 1
    dense = [lambda: Dense(frames.cycle, first, count, extent.rows)] if fits(count, 1, extent.rows) else []
    are_of_one_run = frames.run_us and frames.width_us <= frames.run_us + 1  # the events of a frame
    runs = [lambda: Linked(frames.cycle, extent.rows, frames.run_us)] if are_of_one_run else []
    return [*dense, *runs, lambda: Linked(frames.cycle, extent.rows)]


def _name(number: int) -> str:
    """The name of a column of values, which no key can have: `muntin_` is our own."""
    return f"muntin_value_{number}"
