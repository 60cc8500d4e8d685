"""Large splits with few keys and frames: rows become states in a table of slots, not in DuckDB's hash table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pipelines.sources.duckdb_session import described
from pipelines.sources.row_values import keys_fit, row_values, typed_values, values_of_columns, values_query
from pipelines.states.columns import EVENT_TIME, FIRST_EVENT, FRAME, LAST_EVENT
from pipelines.states.dense import dense_states, fits
from pipelines.states.slots import Lifted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from pipelines.definition.frame_sets import FrameSet
    from pipelines.jobs.run.shares import Share
    from pipelines.jobs.run.split_rows import SplitRows
    from pipelines.sources.taken_times import Taken
    from pipelines.states.dense import DenseStates, Extent

MANY_ROWS = 2**17
"""Fewer are grouped by DuckDB in milliseconds, and their floats are added in the order of the rows there, too."""
_AT_ONCE = 2**17
_ARROW = {"TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INTEGER": pa.int32(), "BIGINT": pa.int64(), "FLOAT": pa.float32()}


def dense_lift(
    session: duckdb.DuckDBPyConnection,
    share: Share,
    frames: FrameSet,
    found: SplitRows,
    times: Taken,
    extent: Extent,
    types: tuple[Mapping[str, str], Mapping[str, str]],
) -> DenseStates | None:
    """The states of a frame set, sorted, as `states` would give them; None where DuckDB has to group the rows.

    Args:
        session: of DuckDB.
        share, frames: what the states are of.
        found, times: the rows, and the times that are taken.
        extent: how many rows there are at most, and between which times.
        types: column -> SQL type, as DuckDB's aggregates have it, and as the state has it.

    Raises:
        duckdb.Error: a row cannot be computed.
    """
    pipeline, kinds = share.bound.pipeline, types[1]
    values = row_values(share.bound.fields, frames)
    if values is None or extent.rows < MANY_ROWS or not keys_fit(pipeline, kinds):
        return None
    turns = (extent.newest - extent.oldest) // frames.width_us + 1
    if not fits(turns * len(frames.cuts_us), 1, extent.rows):
        return None
    asked, keys = (pipeline, found.rows, times, found.columns), {key: kinds[key] for key in pipeline.keys}
    expressions = dict.fromkeys(sql for _, sql in values.values())
    of = described(session, values_query(*asked, {_name(at): sql for at, sql in enumerate(expressions)}, keys))
    typed = typed_values(values, {sql: of[_name(at)] for at, sql in enumerate(expressions)}, *types)
    if typed is None:
        return None
    filled = values_of_columns(typed)
    names = {sql: _name(at) for at, sql in enumerate(dict.fromkeys(filled.values())) if sql != EVENT_TIME}
    reader = session.sql(values_query(*asked, {name: sql for sql, name in names.items()}, keys)).to_arrow_reader(_AT_ONCE)
    with reader:
        lifted = {column: Lifted(value.what, names.get(filled[column], EVENT_TIME)) for column, value in typed.items()}
        states = dense_states(reader, pipeline.keys, EVENT_TIME, lifted, extent, frames.cycle)
    return None if states is None else states._replace(table=_as_stored(states.table, kinds))


def _name(number: int) -> str:
    """The name of a column of values, which no key can have: `muntin_` is our own."""
    return f"muntin_value_{number}"


def _as_stored(states: pa.Table, kinds: Mapping[str, str]) -> pa.Table:
    """The states in the types of the state."""
    told = {name: _ARROW.get(kind) for name, kind in kinds.items() if name not in (FRAME, FIRST_EVENT, LAST_EVENT)}
    return states.cast(pa.schema([field.with_type(told.get(field.name) or field.type) for field in states.schema]))
