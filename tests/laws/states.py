"""States of an aggregate as the engine has them: lifted by DuckDB, combined by the monoids, a row a state."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from pipelines.aggregates import Aggregate, Field
from pipelines.aggregates.aggregate import ORDER, ORDINAL, TIME
from pipelines.engine.combine import INSTANT
from pipelines.engine.keys import contiguous
from pipelines.jobs.accumulate_task import connect, described
from pipelines.jobs.sql_types import storable, stored_type
from pipelines.sources.scan import quoted
from pipelines.windows.kind import Assignment

Row = Mapping[str, Any]
Kinds = Mapping[str, pa.DataType]
WINDOW_US = 20_000_000  # how long the window is that `finish` sees


def lift(aggregate: Aggregate, rows: Sequence[Row], kinds: Kinds) -> pa.Table:
    """One state of these rows, in order of arrival; of none, the empty state. Each row has a `time`."""
    return lifted(staged(rows, kinds), columns_of(aggregate))


def pieces(aggregate: Aggregate, rows: Sequence[Row], kinds: Kinds, size: int) -> pa.Table:
    """A state for every `size` rows."""
    table, piece = staged(rows, kinds), f"(({ORDINAL}) // {size})"
    return lifted(table, {"piece": piece, **columns_of(aggregate)}, [piece]).sort_by("piece").drop_columns(["piece"])


def columns_of(aggregate: Aggregate) -> dict[str, str]:
    return {name: lift for field in aggregate.fields for name, lift in field.columns.items()}


def staged(rows: Sequence[Row], kinds: Kinds) -> pa.Table:
    """Rows as a lift sees them."""
    found = [{**row, TIME: row["time"], ORDER: row["time"], ORDINAL: place} for place, row in enumerate(rows)]
    return pa.Table.from_pylist(found, pa.schema([*kinds.items(), *((name, pa.int64()) for name in ("time", TIME, ORDER, ORDINAL))]))


def lifted(muntin_rows: pa.Table, columns: Mapping[str, str], groups: Sequence[str] = ()) -> pa.Table:
    """In the types that states are stored with; one row, or one for each group."""
    chosen = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in columns.items())
    session = duck()
    session.register("muntin_rows", muntin_rows)
    query = f"SELECT {chosen} FROM muntin_rows" + (f" GROUP BY {', '.join(groups)}" if groups else "")
    cast = ", ".join(f"{quoted(name)}::{kind} AS {quoted(name)}" for name, kind in kinds_of(query, muntin_rows.schema).items())
    return storable(session.sql(f"SELECT {cast} FROM ({query})").to_arrow_table())


@cache
def duck() -> duckdb.DuckDBPyConnection:
    """One session for all laws: to open one takes longer than to prove a law."""
    return connect()


@cache
def kinds_of(query: str, _schema: pa.Schema) -> dict[str, str]:
    return {name: stored_type(kind) for name, kind in described(duck(), query).items()}


def combine(aggregate: Aggregate, *states: pa.Table, mid: int | None = None) -> pa.Table:
    """One state of several, in order; `mid`: where the window's second block begins."""
    return ranges(aggregate, pa.concat_tables(states), [(0, mid or 0, sum(map(len, states)))])


def ranges(aggregate: Aggregate, states: pa.Table, windows: Sequence[tuple[int, int, int]]) -> pa.Table:
    """A state of each `lo..hi`, whose second block begins at `mid`."""
    assignment = assigned(len(states), windows)
    columns: dict[str, pa.Array] = {}
    for field in aggregate.fields:
        columns |= dict(zip(field.columns, reduced(field, states, assignment), strict=True))
    return pa.table(columns)


def reduced(field: Field, states: pa.Table, windows: Assignment) -> list[pa.Array]:
    parts = {part: contiguous(states[column]) for (part, _), column in zip(field.parts, field.columns, strict=True)}
    return list(field.monoid.reduce(parts, windows).values())


def assigned(rows: int, windows: Sequence[tuple[int, int, int]]) -> Assignment:
    """Windows over rows in their order; blocks change where a window says so."""
    lo, mid, hi = np.array(windows, np.int64).T
    block = np.isin(np.arange(rows), mid[mid > lo]).cumsum()
    none, zeros = np.empty(0, np.int64), np.zeros(len(lo), np.int64)
    return Assignment(np.arange(rows), block, zeros, lo, hi, lo, mid, hi, none, none, np.zeros(rows, np.int64))


def finish(aggregate: Aggregate, state: pa.Table) -> Any:
    """What a user sees of one state."""
    columns = [contiguous(state[column]) for field in aggregate.fields for column in field.columns]
    bounds = [pa.array([at] * len(state), INSTANT) for at in (0, WINDOW_US)] if aggregate.uses_window else []
    return aggregate.finish(*columns, *bounds)[0].as_py()
