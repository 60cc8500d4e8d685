"""States of an aggregate as the engine has them: DuckDB lifts, monoids combine. A row is a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from muntin.aggregates.aggregate import Aggregate, sealed
from muntin.engine.assignment import Assignment
from muntin.engine.past import nothing_before
from muntin.sources.new_session import connect
from muntin.sources.reading.lift_sql import lifts_sql
from muntin.sources.reading.scan import quoted
from muntin.sources.reading.sql_types import stored, stored_type
from muntin.sources.sessions.duckdb_session import described
from muntin.sources.sessions.row_expressions import guarded
from muntin.states.columns import EVENT_TIME, INSTANT, ORDER, ORDINAL, SOURCE_ROWS
from muntin.states.frames import NO_INTS
from muntin.states.keys import contiguous

Row = Mapping[str, Any]
Rows = Sequence[Row]
Kinds = Mapping[str, pa.DataType]

WINDOW_US = 20_000_000  # how long the window is that `finish` sees
_LIST = "muntin_list"


def lifted(aggregate: Aggregate, lists: Sequence[Rows], kinds: Kinds) -> pa.Table:
    """The state of each list of rows, in order of arrival, in the stored types.

    `aggregate`: whose fields are lifted. `lists`: rows with the columns of `kinds` and a `time` in
    microseconds. A list without rows gives the empty state. `kinds`: column -> Arrow type.
    """
    rows_of = [
        {**row, EVENT_TIME: row["time"], ORDER: row["time"], ORDINAL: place, _LIST: at}
        for at, rows in enumerate(lists)
        for place, row in enumerate(rows)
    ]
    schema = pa.schema(
        [*kinds.items(), *((name, pa.int64()) for name in ("time", EVENT_TIME, ORDER, ORDINAL, _LIST))]
    )
    states, numbers = _queried(aggregate, pa.Table.from_pylist(rows_of, schema), empty=not all(lists))
    where = np.full(len(lists), len(states) - 1)
    where[numbers] = np.arange(len(numbers))
    return sealed(states, aggregate.fields).take(pa.array(where))


def _queried(aggregate: Aggregate, rows: pa.Table, *, empty: bool) -> tuple[pa.Table, np.ndarray]:
    """The state of each list with rows, then if asked the empty state; and the numbers of the lists."""
    columns = {name: lift for field in aggregate.fields for name, lift in lifts_sql(field, guarded).items()}
    grouped = queried(rows, columns | {_LIST: _LIST}, f"GROUP BY {_LIST} ORDER BY {_LIST}")
    states = grouped.drop_columns([_LIST])
    numbers = grouped[_LIST].to_numpy()
    return pa.concat_tables([states, queried(rows, columns, "WHERE false")]) if empty else states, numbers


def queried(muntin_rows: pa.Table, columns: Mapping[str, str], rest: str = "") -> pa.Table:
    """Columns of SQL over rows, in the stored types. `rest` is the SQL after the FROM."""
    chosen = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in columns.items())
    session = _session()
    session.register(SOURCE_ROWS, muntin_rows)
    query = f"SELECT {chosen} FROM {SOURCE_ROWS} {rest}"
    return stored(session, query, _kinds(query, muntin_rows.schema))


@cache
def _session() -> duckdb.DuckDBPyConnection:
    """The session of all laws. To open a session takes longer than to prove a law."""
    return connect()


@cache
def _kinds(query: str, _schema: pa.Schema) -> dict[str, str]:
    return {name: stored_type(kind) for name, kind in described(_session(), query).items()}


def combined(aggregate: Aggregate, *states: pa.Table, mid: int = 0) -> pa.Table:
    """Combine several states row by row, in order. `mid` is where the second block of the windows begins."""
    rows, count = len(states[0]), len(states)
    order = np.arange(rows * count).reshape(count, rows).T.ravel()
    lo = np.arange(rows) * count
    block = np.arange(rows * count) // count * 2 + (np.tile(np.arange(count), rows) >= max(mid, 1))
    return ranges(
        aggregate,
        pa.concat_tables(states),
        order,
        block if mid else lo.repeat(count),
        (lo, lo + mid, lo + count),
    )


def ranges(
    aggregate: Aggregate,
    states: pa.Table,
    order: np.ndarray,
    block: np.ndarray,
    bounds: tuple[np.ndarray, ...],
) -> pa.Table:
    """The state of each `order[lo:hi]`, whose second block begins at `mid`. The bounds are (lo, mid, hi)."""
    lo, mid, hi = bounds
    none, zeros = NO_INTS, np.zeros(len(lo), np.int64)
    windows = Assignment(order, block, zeros, lo, hi, lo, mid, hi, none, none, np.zeros(len(order), np.int64))
    columns: dict[str, pa.Array] = {}
    for field in aggregate.fields:
        parts = {
            part: contiguous(states[column]) for part, column in zip(field.names, field.columns, strict=True)
        }
        columns |= dict(zip(field.columns, field.monoid.reduce(parts, windows).values(), strict=True))
    return pa.table(columns)


def finished(aggregate: Aggregate, states: pa.Table) -> pa.Array:
    """The result of each state."""
    columns = [contiguous(states[column]) for field in aggregate.fields for column in field.columns]
    bounds = [pa.array([at] * len(states), INSTANT) for at in (0, WINDOW_US)] if aggregate.uses_window else []
    before = nothing_before(states, len(states), aggregate, aggregate.carry) if aggregate.carry else ()
    return contiguous(aggregate.finish(*columns, *bounds, *before))
