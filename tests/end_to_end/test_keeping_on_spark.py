"""Collections, sketches, maps and own aggregates through Spark and Delta and back, a batch after another."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.aggregates import theta_sets
from muntin.errors import SourceError

START = datetime(2024, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=1)
ROWS = [  # batch, seconds, x, s: the last row of the second batch is late for nothing yet
    (0, 10, 1, "p"),
    (0, 5, 2, "q"),
    (0, 5, 3, "p"),
    (1, 70, 2, "q"),
    (1, 30, None, "r"),
]


def smallest(state: list[int], value: int) -> list[int]:
    return sorted([*state, value])[:2]


def two(state: list[int], other: list[int]) -> list[int]:
    return sorted(state + other)[:2]


def pipeline(folder: Path) -> Pipeline:
    for batch in range(2):
        chosen = [row for row in ROWS if row[0] == batch]
        times = pa.array([START + timedelta(seconds=row[1]) for row in chosen], pa.timestamp("us", tz="UTC"))
        columns = {"t": times, "x": pa.array([row[2] for row in chosen], pa.int32()), "s": [row[3] for row in chosen]}
        columns["l"] = pa.array([[row[1], row[2]][: row[1] // 5] for row in chosen], pa.list_(pa.int64()))
        pq.write_table(pa.table(columns), folder / f"{START + batch * STEP:%H%M}.parquet")
    return Pipeline(
        name="keeping",
        source=sources.files(f"{folder}/{{start:%H%M}}.parquet", event_time="t"),
        schedule=STEP,
        start=START,
        windows={
            "two": windows.tumbling("2m"),
            "quiet": windows.session("10s", grace="1m"),
            "three": windows.arrival(windows.by_count(3), trigger=windows.by_count(1)),
        },
        aggregates={
            "all": agg.collect("x"),
            "texts": agg.concat("s", ""),
            "counts": agg.count_by("s"),
            "about": agg.approx_count_distinct("x"),
            "set": agg.theta("s"),
            "top": agg.approx_top_k("s", 1),
            "quantiles": agg.approx_quantiles("x", [0, 1]),
            "means": agg.by("s", agg.mean("x")),
            "places": agg.elementwise("l", agg.sum("l")),
            "least": agg.own("least", "x", create=list, accumulate=smallest, combine=two, finish=list, returns=pa.list_(pa.int64())),
            "span": agg.apply(lambda xs: max(x or 0 for x in xs) - min(x or 0 for x in xs), "x", returns=pa.int64()),
        },
    )


def test_sketches_of_other_types_do_not_mix(spark, tmp_path: Path) -> None:
    flow = replace(pipeline(tmp_path), aggregates={"about": agg.approx_count_distinct("x"), "set": agg.theta("x")})
    run(flow, root=tmp_path / "state", start=START, end=START + STEP, spark=spark)
    texts = {"t": pa.array([START + STEP], pa.timestamp("us", tz="UTC")), "x": ["1"]}
    pq.write_table(pa.table(texts), tmp_path / f"{START + STEP:%H%M}.parquet")
    with pytest.raises(SourceError, match="is VARCHAR here and INTEGER in earlier batches"):
        run(flow, root=tmp_path / "state", start=START + STEP, end=START + 2 * STEP, spark=spark)


def test_what_is_kept_comes_back(spark, tmp_path: Path) -> None:
    flow = pipeline(tmp_path)
    for batch in (0, 1, 0):  # the second run finds states of the first, the third replaces them
        run(flow, root=tmp_path / "state", start=START + batch * STEP, end=START + (batch + 1) * STEP, spark=spark)
    (row,) = read(flow, "two", root=tmp_path / "state").to_pylist()
    assert theta_sets.estimate(row.pop("set")) == 3
    assert {name: value for name, value in row.items() if name in flow.aggregates} == {
        "all": [2, 3, 1, 2],
        "texts": "qpprq",
        "counts": [("p", 2), ("q", 2), ("r", 1)],
        "about": 3,
        "top": [{"value": "p", "count": 2, "error": 0}],
        "quantiles": [1.0, 3.0],
        "means": [("p", 2.0), ("q", 2.0), ("r", None)],
        "places": [10 + 5 + 5 + 70 + 30, 1 + 2],
        "least": [1, 2],
        "span": 3,
    }
    sessions = read(flow, "quiet", root=tmp_path / "state", provisional=True)
    assert [row["all"] for row in sessions.to_pylist()] == [[2, 3, 1], [], [2]]
    arrived = read(flow, "three", root=tmp_path / "state").to_pylist()
    assert [row["all"] for row in arrived] == [[1, 2, 3], [2, 3, 2], [3, 2]]
    assert [row["least"] for row in arrived] == [[1, 2], [2, 2], [2, 3]]
    assert [row["means"] for row in arrived] == [[("p", 2.0), ("q", 2.0)], [("p", 3.0), ("q", 2.0)], [("p", 3.0), ("q", 2.0), ("r", None)]]
    assert [row["texts"] for row in arrived] == ["pqp", "qpq", "pqr"]
