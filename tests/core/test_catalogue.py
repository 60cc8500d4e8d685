"""The catalogue from raw rows to windows: several batches and splits, late rows, sliding windows, as the oracle says."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pipelines import aggregates as agg
from pipelines.aggregates import Aggregate
from pipelines.aggregates.aggregate import sealed
from pipelines.definition.instants import BEFORE_ALL
from pipelines.engine.windows import Combined, combine
from pipelines.sources.lift_sql import lifts_sql
from pipelines.states.columns import EVENT_TIME, INSTANT, ORDER, ORDINAL
from pipelines.timeline.closing import closing
from tests.core.cases import Case, case
from tests.core.lift import positioned
from tests.core.values import alike
from tests.laws.states import lifted
from tests.oracle import Agg, judge
from tests.oracle import catalogue as by
from tests.oracle.catalogue import column

V, X, S = map(column, "vxs")


def size(row: Mapping[str, Any]) -> int | None:
    return None if row["v"] is None else abs(row["v"])


CATALOGUE: dict[str, tuple[Aggregate, Callable[[Any], Any]]] = {
    "present": (agg.count("x"), Agg("count", X)),
    "least": (agg.min_count("v"), partial(by.extreme_count, of=V, pick=min)),
    "most": (agg.max_count("x"), partial(by.extreme_count, of=X, pick=max)),
    "weighted": (agg.weighted_mean("x", "abs(v)"), partial(by.weighted_mean, x=X, w=size)),
    "product": (agg.product("v"), partial(by.product, of=V)),
    "geometric": (agg.geometric_mean("abs(v)"), partial(by.geometric_mean, of=size)),
    "range": (agg.range("v"), partial(by.spread, of=V)),
    "min_by": (agg.min_by("s", "v"), partial(by.best, value=S, order=V, sign=-1)),
    "max_by": (agg.max_by("v", "x"), partial(by.best, value=V, order=X, sign=1)),
    "all_min_by": (agg.all_min_by("s", "v"), partial(by.all_best, value=S, order=V, sign=-1)),
    "all_max_by": (agg.all_max_by("v", "s"), partial(by.all_best, value=V, order=S, sign=1)),
    "top": (agg.top_n("x", 3), partial(by.greatest, of=X, n=3)),
    "bottom": (agg.bottom_n("s", 2), partial(by.least, of=S, n=2)),
    "first": (agg.first_k("x", 3), lambda rows: [row["x"] for row in rows[:3]]),
    "last": (agg.last_k("s", 2), lambda rows: [row["s"] for row in rows[-2:]]),
    "any": (agg.any_value("v"), lambda rows: next(iter(by.values(rows, V)), None)),
    "candle": (agg.candlestick("x", "abs(v)"), partial(by.candlestick, price=X, volume=size)),
    "skewness": (agg.skewness("v"), partial(by.skewness, of=V)),
    "kurtosis": (agg.kurtosis("v"), partial(by.kurtosis, of=V)),
    "covariance": (agg.covariance("v", "x"), partial(by.covariance, x=V, y=X)),
    "correlation": (agg.correlation("v", "x"), partial(by.correlation, x=V, y=X)),
    "trend": (agg.linear_trend("v", "x"), partial(by.linear_trend, x=V, y=X)),
    "held": (agg.time_weighted_mean("x"), partial(by.time_weighted_mean, of=X)),
    "lines": (agg.time_weighted_mean("v", "linear"), partial(by.time_weighted_mean, of=V, linear=True)),
    "counter": (agg.counter_rate("v"), partial(by.counter_rate, of=V)),
    "states": (agg.state_duration("s"), partial(by.state_duration, of=S)),
    "silence": (agg.longest_silence(), by.longest_silence),
    "all": (agg.all_of("v > 0"), lambda rows: all(v > 0 for v in found) if (found := by.values(rows, V)) else None),
    "any_of": (agg.any_of("v > 6"), lambda rows: any(v > 6 for v in found) if (found := by.values(rows, V)) else None),
    "some": (agg.sum("v", where="s = 'p'"), lambda rows: Agg("sum", V)([row for row in rows if row["s"] == "p"])),
    "opening": (
        agg.first("x", where="v > 2"),
        lambda rows: next((row["x"] for row in rows if row["v"] is not None and row["v"] > 2), None),
    ),
}
AGGREGATES = {name: aggregate for name, (aggregate, _) in CATALOGUE.items()} | {"rate": agg.rate()}
FIELDS = {field.stem: field for each in AGGREGATES.values() for field in each.fields}
COLUMNS = {name: lift for field in FIELDS.values() for name, lift in lifts_sql(field).items()}
SCHEMA = pa.schema([("t", pa.int64()), ("k", pa.string()), ("v", pa.int64()), ("x", pa.float64()), ("s", pa.string())])


def states(rows: Sequence[Mapping[str, Any]], width: int, keys: Sequence[str]) -> pa.Table:
    """The states of a batch, or of one of its splits, as DuckDB lifts them."""
    table = pa.Table.from_pylist([dict(row) for row in rows], SCHEMA)
    for name in (EVENT_TIME, ORDER):
        table = table.append_column(name, table["t"])
    table = table.append_column(ORDINAL, pa.array(np.arange(len(rows))))
    frame = f"({EVENT_TIME} - ({EVENT_TIME} % {width} + {width}) % {width})"
    key = {"k": "k"} if keys else {}
    times = {"frame": frame, "first_event": f"min({EVENT_TIME})", "last_event": f"max({EVENT_TIME})"}
    found = sealed(lifted(table, key | times | COLUMNS, [*key, frame]), FIELDS.values())
    for name in times:
        found = found.set_column(found.column_names.index(name), name, found[name].combine_chunks().view(INSTANT))
    return found


def windows(given: Case, marks: Sequence[float], splits: int) -> Combined:
    """What the engine makes of a case whose batches are lifted in so many pieces."""
    pieces = [(at, piece) for at, batch in enumerate(given.batches) for piece in np.array_split(np.arange(len(batch.rows)), splits)]
    return combine(
        positioned([(at, states([given.batches[at].rows[row] for row in piece], given.width, given.keys)) for at, piece in pieces]),
        window=given.ours,
        when=closing(given.ours, np.array([max(mark, BEFORE_ALL) for mark in marks]).astype(np.int64)),
        keys=given.keys,
        aggregates=AGGREGATES,
        width_us=given.width,
    )


@pytest.mark.parametrize("seed", range(1, 13))
def test_from_rows_to_windows(seed: int) -> None:
    given = case(seed)
    oracle = {name: aggregate for name, (_, aggregate) in CATALOGUE.items()} | {"rate": len}
    said = judge(given.theirs, given.batches, oracle, keys=given.keys, watermark=given.policy)
    found = windows(given, said.marks, splits=1 + seed % 3).windows
    starts, ends = (found[name].combine_chunks().view("int64").to_pylist() for name in ("window_start", "window_end"))
    ours = {(row.get("k"), start, end): row for row, start, end in zip(found.to_pylist(), starts, ends, strict=True)}
    theirs = {(row.get("k"), row["window_start"], row["window_end"]): row for row in said.published + said.still_open}
    assert ours.keys() == theirs.keys()
    for at, row in theirs.items():
        row["rate"] *= 1e6 / (at[2] - at[1])
        wrong = {name: (ours[at][name], row[name]) for name in AGGREGATES if not alike(ours[at][name], row[name])}
        assert wrong == {}, at
