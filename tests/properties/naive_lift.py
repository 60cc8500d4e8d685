"""The naive lift: raw rows of a batch to one state per key and frame, or per row, in Python; and the aggregates that cases ask for."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.testing.oracle import Agg
from muntin.windows.kinds.session import until_column

INSTANT = pa.timestamp("us", tz="UTC")
Rows = Sequence[Mapping[str, Any]]

AGGREGATES: dict[str, Aggregate] = {
    "n": agg.count(),
    "many": agg.count_if("v > 3"),
    "total": agg.sum("v"),
    "mean": agg.mean("x"),
    "low": agg.min("x"),
    "high": agg.max("v"),
    "opening": agg.first("s"),
    "closing": agg.last("v"),
    "spread": agg.variance("x"),
}
ORACLE = {
    "n": Agg("count"),
    "many": Agg("count_if", lambda row: row["v"] is not None and row["v"] > 3),
    "total": Agg("sum", lambda row: row["v"]),
    "mean": Agg("mean", lambda row: row["x"]),
    "low": Agg("min", lambda row: row["x"]),
    "high": Agg("max", lambda row: row["v"]),
    "opening": Agg("first", lambda row: row["s"]),
    "closing": Agg("last", lambda row: row["v"]),
    "spread": Agg("variance", lambda row: row["x"]),
}
FIELDS = {field.stem: field for aggregate in AGGREGATES.values() for field in aggregate.fields}
TYPES = {
    "sum_x": pa.float64(),
    "min_x": pa.float64(),
    "first_s_value": pa.string(),
    "moments_x_mean": pa.float64(),
    "moments_x_rest": pa.float64(),
    "moments_x_m2": pa.float64(),
}
SCHEMA = pa.schema(
    [("k", pa.string()), ("frame", INSTANT), ("first_event", INSTANT), ("last_event", INSTANT)]
    + [(column, TYPES.get(column, pa.int64())) for field in FIELDS.values() for column in field.columns]
)


def states(rows: Rows, width: int, keys: Sequence[str] = ("k",), begin: int = 0, theirs: Any = None) -> pa.Table:
    """The states of a batch, or of one of its splits, sorted by key and frame as a checkpoint is; null is the last key.

    `width`, `begin`: of frames, and where one of them begins. `theirs`: a window of the oracle's whose rows say more than their time.
    """
    groups: dict[tuple[str | None, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        frame = (row["t"] - begin) // width * width + begin
        groups.setdefault((row["k"] if keys else None, frame), []).append(row)
    found = [state(key, frame, groups[key, frame]) for key, frame in sorted(groups, key=lambda at: (at[0] is None, at[0] or "", at[1]))]
    in_order = [groups[key, frame] for key, frame in sorted(groups, key=lambda at: (at[0] is None, at[0] or "", at[1]))]
    if hasattr(theirs, "reach"):
        found = [row | {"last_event": max(map(theirs.reach, held))} for row, held in zip(found, in_order, strict=True)]
    table = pa.Table.from_arrays(
        [pa.array([row[name] for row in found], kind) for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True)], schema=SCHEMA
    )
    if (until := getattr(theirs, "until", None)) is not None:
        ends = [any(map(until, held)) for held in in_order]
        table = table.append_column(until_column(f"v = {until.value}"), pa.array(ends, pa.bool_()))
    return table


def state(key: str | None, frame: int, rows: Rows) -> dict[str, Any]:
    """All fields of some rows."""
    ordered = sorted(rows, key=lambda row: row["t"])
    xs, vs = [row["x"] for row in rows if row["x"] is not None], [row["v"] for row in rows if row["v"] is not None]
    n, mean, m2 = moments(xs)
    newest = ordered[-1]["t"]
    return {
        "k": key, "frame": frame, "first_event": ordered[0]["t"], "last_event": newest,
        "rows": len(rows), "count_v": len(vs), "sum_v": sum(vs), "count_x": len(xs), "sum_x": added(xs),
        FIELDS_MANY: sum(v > 3 for v in vs),
        "min_x": min(xs, key=lambda x: (math.isnan(x), x), default=None), "max_v": max(vs, default=None),
        "first_s_time": ordered[0]["t"], "first_s_value": ordered[0]["s"], "last_v_time": newest, "last_v_value": ordered[-1]["v"],
        "moments_x_n": n, "moments_x_mean": mean, "moments_x_rest": 0.0, "moments_x_m2": m2,
    }  # fmt: skip


FIELDS_MANY = AGGREGATES["many"].fields[0].stem


def added(xs: Sequence[float]) -> float:
    """From left to right."""
    total = 0.0
    for x in xs:
        total += x
    return total


def moments(xs: Sequence[float]) -> tuple[int, float, float]:
    """Count, mean, sum of squared distances."""
    if not xs:
        return 0, 0.0, 0.0
    if any(math.isnan(x) for x in xs):
        return len(xs), math.nan, math.nan
    mean = math.fsum(xs) / len(xs)
    return len(xs), mean, math.fsum((x - mean) ** 2 for x in xs)


def positioned(tables: Sequence[tuple[int, pa.Table]], none: pa.Schema = SCHEMA) -> pa.Table:
    """States of several batches in order of arrival, with the place of each batch. `none`: the columns if there is no batch."""
    parts = [table.append_column("muntin_position", pa.repeat(pa.scalar(at, pa.int64()), len(table))) for at, table in tables]
    return pa.concat_tables(parts) if parts else none.append(pa.field("muntin_position", pa.int64())).empty_table()


def states_of_rows(rows: Rows, lifts: Mapping[str, str], keys: Sequence[str] = ("k",)) -> pa.Table:
    """The states of a batch, or of one of its splits, a row each, in order of arrival; with what windows read of them."""
    parts = [states([row], 1, keys) for row in rows or [NOTHING]]
    found = pa.concat_tables(parts).slice(0, len(rows))
    for name in ("first_s_time", "last_v_time"):
        found = found.set_column(found.column_names.index(name), name, pa.array([0] * len(rows), pa.int64()))
    source = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in COLUMNS.items()})
    source = source.append_column("place", pa.array(range(len(rows)), pa.int64()))
    sql = ", ".join(f"{lift} AS {name}" for name, lift in lifts.items())
    read = SESSION().from_arrow(source).query("source", f"SELECT {sql} FROM source GROUP BY place ORDER BY place").to_arrow_table()
    for name in lifts:
        found = found.append_column(name, read[name])
    return found


COLUMNS = {"v": pa.int64(), "x": pa.float64(), "s": pa.string()}
NOTHING = {"t": 0, "k": "", "v": 0, "x": 0.0, "s": ""}
SESSION = cache(duckdb.connect)
