"""Aggregates that keep items, over several states and windows: states of DuckDB's own SQL, windows as the oracle has them.

`MUNTIN_CORE=30000` runs more cases.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from muntin import Pipeline, sources
from muntin import aggregates as agg
from muntin.aggregates import theta_sets
from muntin.aggregates.aggregate import Aggregate, sealed
from muntin.aggregates.counting import shared_fields
from muntin.definition.frame_sets import FrameSet
from muntin.definition.instants import BEFORE_ALL
from muntin.sources.new_session import connect
from muntin.sources.reading.lift import states
from muntin.sources.reading.refused_rows import Taken
from muntin.sources.reading.sql_types import stored
from muntin.sources.sessions.duckdb_session import described
from muntin.states.columns import INSTANT
from muntin.testing.oracle import Agg, judge
from muntin.timeline.closing import closing
from tests.case_counts import random_seeds
from tests.oracle import keeping
from tests.properties.combining import combine
from tests.properties.equal_values import alike
from tests.properties.random_cases import Case, case

CASES = random_seeds(40)
CHUNK = 10


def added(state: list[int], value: int) -> list[int]:
    state.append(value)
    return state


OURS: dict[str, tuple[Aggregate, Any]] = {
    "all": (agg.collect("s"), keeping.collect("s")),
    "three": (agg.collect("v", 3), keeping.collect("v", 3)),
    "once": (agg.collect("s", distinct=True), keeping.first_of_each("s")),
    "sorted": (agg.collect_sorted("x"), keeping.sorted_by("x", "x")),
    "sorted by": (agg.collect_sorted("s", "v"), keeping.sorted_by("s", "v")),
    "falling": (agg.collect_sorted("s", "v", descending=True), keeping.sorted_by("s", "v", descending=True)),
    "distinct": (agg.collect_distinct("x"), keeping.distinct("x")),
    "text": (agg.concat("v", "-"), keeping.concat("v", "-")),
    "map": (agg.to_map("s", "v"), keeping.to_map("s", "v")),
    "histogram": (agg.histogram("v", [-2, 0, 3, 7]), keeping.histogram("v", [-2, 0, 3, 7])),
    "median": (agg.median("x"), keeping.percentile("x", 0.5)),
    "percentile": (agg.percentile("v", 0.9), keeping.percentile("v", 0.9)),
    "kinds": (agg.count_distinct("x"), lambda rows: len(keeping.distinct("x")(rows))),
    "counts": (agg.count_by("v"), keeping.count_by("v")),
    "mode": (agg.mode("x"), keeping.mode("x")),
    "about": (agg.approx_count_distinct("v"), lambda rows: len(keeping.distinct("v")(rows))),
    "extremes": (agg.approx_quantiles("v", [0, 1]), lambda rows: extremes(keeping.values(rows, "v"))),
    "top": (agg.approx_top_k("v", 2), keeping.top("v", 2)),
    "set": (agg.theta("s"), lambda rows: float(len(keeping.distinct("s")(rows)))),
    "means": (agg.by("s", agg.mean("v")), keeping.by("s", Agg("mean", lambda row: row["v"]))),
    "firsts": (agg.by("v", agg.first("s")), keeping.by("v", Agg("first", lambda row: row["s"]))),
    "spreads": (agg.by("s", agg.variance("x")), keeping.by("s", Agg("variance", lambda row: row["x"]))),
    "lists": (agg.by("s", agg.collect("v")), keeping.by("s", keeping.collect("v"))),
    "own": (
        agg.own("ascending", "v", create=list, accumulate=added, combine=lambda a, b: a + b, finish=sorted, returns=pa.list_(pa.int64())),
        lambda rows: sorted(keeping.values(rows, "v")),
    ),
    "steps": (
        agg.apply(steps := lambda vs: [v is None for v in vs], "v", returns=pa.list_(pa.bool_())),
        lambda rows: steps([row["v"] for row in rows]),
    ),
}
AGGREGATES = {name: ours for name, (ours, _) in OURS.items()}
ORACLE: dict[str, Any] = {name: theirs for name, (_, theirs) in OURS.items()}


def extremes(values: Sequence[int]) -> list[float] | None:
    return [float(min(values)), float(max(values))] if values else None


def a_pipeline(keys: Sequence[str]) -> Pipeline:
    return Pipeline(
        name="keeping",
        source=sources.files("{start}.parquet", event_time=sources.at("t", unit="us")),
        schedule="1h",
        start=datetime(2024, 1, 1, tzinfo=UTC),
        keys=keys,
        windows={"any": case(1).ours},
        aggregates=AGGREGATES,
    )


ROWS = pa.schema(
    [("t", pa.int64()), ("k", pa.string()), ("v", pa.int64()), ("x", pa.float64()), ("s", pa.string())]
    + [(name, pa.int64()) for name in ("muntin_time", "muntin_order", "muntin_ordinal")]
)


def lifted(session: duckdb.DuckDBPyConnection, given: Case, rows: Sequence[Mapping[str, Any]], position: int) -> pa.Table:
    """The states of one split, as accumulate makes them."""
    found = [{**row, "muntin_time": row["t"], "muntin_order": row["t"], "muntin_ordinal": at} for at, row in enumerate(rows)]
    session.register("split", pa.Table.from_pylist(found, ROWS))
    pipeline = a_pipeline(given.keys)
    fields = shared_fields(pipeline.aggregates)
    query = states(pipeline, fields, FrameSet(given.width, (), event_times=True), "split", Taken(2**62), described(session, "FROM split"))
    table = sealed(stored(session, query), fields)
    for name in ("frame", "first_event", "last_event"):
        table = table.set_column(table.column_names.index(name), name, table[name].combine_chunks().view(INSTANT))
    return table.append_column("muntin_position", pa.repeat(pa.scalar(position, pa.int64()), len(table)))


def plain(value: Any) -> Any:
    """Tuples and dicts as lists, so that `alike` looks into them."""
    if isinstance(value, dict):
        return [plain(each) for each in value.values()]
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return theta_sets.estimate(value) if isinstance(value, bytes) else value


def disagreement(session: duckdb.DuckDBPyConnection, given: Case) -> list[str]:
    said = judge(given.theirs, given.batches, ORACLE, keys=given.keys, watermark=given.policy, lateness=given.lateness)
    halves = [
        (at, half)
        for at, batch in enumerate(given.batches)
        for half in (batch.rows[: len(batch.rows) // 2], batch.rows[len(batch.rows) // 2 :])
    ]
    table = pa.concat_tables([lifted(session, given, rows, at) for at, rows in halves])
    watermarks = np.array([max(watermark, BEFORE_ALL) for watermark in said.watermarks]).astype(np.int64)
    combined = combine(
        table, window=given.ours, when=closing(given.ours, watermarks), keys=given.keys, aggregates=AGGREGATES, width_us=given.width
    )
    bounds = [combined.windows[name].combine_chunks().view("int64").to_pylist() for name in ("window_start", "window_end")]
    keys = list(zip(*(combined.windows[key].to_pylist() for key in given.keys), *bounds, strict=True))
    wanted = {(*(row[key] for key in given.keys), row["window_start"], row["window_end"]): row for row in said.published + said.still_open}
    assert sorted(keys, key=str) == sorted(wanted, key=str)
    return [
        f"{key} {name}: {plain(ours)} not {plain(wanted[key][name])}"
        for name in AGGREGATES
        for key, ours in zip(keys, combined.windows[name].to_pylist(), strict=True)
        if not alike(plain(ours), plain(wanted[key][name]))
    ]


@pytest.mark.parametrize("chunk", range(0, len(CASES), CHUNK))
def test_engine_and_oracle_agree(chunk: int) -> None:
    session = connect()
    wrong = {seed: said for seed in CASES[chunk : chunk + CHUNK] if (said := disagreement(session, case(seed)))}
    assert wrong == {}
