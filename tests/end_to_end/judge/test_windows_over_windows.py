"""Windows over windows, three deep: means that are the mean of all, batches that the upstream published anew, time that is known."""

import random
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, Retain, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError
from tests.storage.three_batches import HERE

BEGIN, STEP, BATCHES = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=10), 8
END = BEGIN + BATCHES * STEP


def write(folder: Path, number: int, rows: Sequence[tuple[float, str, float]]) -> None:
    """A batch's file: (minute, key, value)."""
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    times = pa.array([BEGIN + timedelta(minutes=minute) for minute in columns[0]], pa.timestamp("us", tz="UTC"))
    table = pa.table({"t": times, "k": pa.array(columns[1], pa.string()), "v": pa.array(columns[2], pa.float64())})
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / f"{BEGIN + number * STEP:%H%M}.parquet")


def drawn(number: int, seed: int) -> list[tuple[float, str, float]]:
    dice = random.Random(seed)
    return [(10 * number + dice.randint(-8, 9), dice.choice("abc"), dice.random()) for _ in range(dice.choice([0, 3, 20]))]


def stages(folder: Path, policy: str = "interval") -> list[Pipeline]:
    """Five minutes with grace, twenty minutes of these by key, forty of these without."""
    same: dict[str, Any] = {"schedule": "10m", "start": BEGIN}
    own = {"n": agg.count(), "mean": agg.mean("v"), "spread": agg.stddev("v"), "opening": agg.first("v"), "top": agg.max("v")}
    merged = {name: agg.merge(name) for name in own}
    one = Pipeline(
        name="one", source=sources.files(str(folder / "{start:%H%M}.parquet"), event_time="t"), keys=["k"], watermark=policy,
        windows={"five": windows.tumbling("5m", grace="5m"), "three": windows.arrival(windows.by_count(3))}, aggregates=own,
        retain=Retain(states_in_windows=True), **same,
    )  # fmt: skip
    two = Pipeline(
        name="two", source=sources.windows(one, "five"), keys=["k"],
        retain=Retain(states_in_windows=True), aggregates={"held": agg.count(), **merged},
        windows={"twenty": windows.tumbling("20m"), "rolling": windows.sliding("20m", step="5m")}, **same,
    )  # fmt: skip
    three = Pipeline(
        name="three", source=sources.windows(two, "twenty"), windows={"forty": windows.tumbling("40m")}, aggregates=merged, **same
    )
    return [one, two, three]


def everything(pipelines: Sequence[Pipeline], root: Path) -> dict[str, list[dict[str, Any]]]:
    return {f"{p.name}/{w}": read(p, w, root=root).to_pylist() for p in pipelines for w in p.windows}


@pytest.mark.parametrize("policy", ["interval", "events"])
def test_bulk_stepwise_and_replaced_are_one(policy: str, tmp_path: Path) -> None:
    """A batch that the first publishes anew is read again by the others, whichever batch they are asked for."""
    data, whole, steps, clean = (tmp_path / name for name in ("data", "whole", "steps", "clean"))
    for number in range(BATCHES):
        write(data, number, drawn(number, number))
    pipelines = stages(data, policy)
    for each in pipelines:
        run(each, root=whole, start=BEGIN, end=END, spark=HERE)
    for at in range(BATCHES):
        for each in pipelines:
            run(each, root=steps, start=BEGIN + at * STEP, end=BEGIN + (at + 1) * STEP, spark=HERE)
    assert everything(pipelines, steps) == everything(pipelines, whole)
    assert all(everything(pipelines, whole).values())
    write(data, 3, drawn(3, 99))
    run(pipelines[0], root=steps, start=BEGIN + 3 * STEP, end=BEGIN + 4 * STEP, spark=HERE)
    for each in pipelines[1:]:
        run(each, root=steps, start=END - STEP, end=END, spark=HERE)
    for each in pipelines:
        run(each, root=clean, start=BEGIN, end=END, spark=HERE)
    assert everything(pipelines, steps) == everything(pipelines, clean) != everything(pipelines, whole)


def test_merged_states_are_those_of_all_rows(tmp_path: Path) -> None:
    """A mean of means weighs windows alike; merged it is the mean of all rows. Late rows of the first are in no stage."""
    rows = [drawn(number, number + 50) for number in range(BATCHES)]
    for number, batch in enumerate(rows):
        write(tmp_path / "data", number, batch)
    pipelines = stages(tmp_path / "data")
    for each in pipelines:
        run(each, root=tmp_path / "state", start=BEGIN, end=END, spark=HERE)
    fives = {(row["k"], row["window_start"]): row["n"] for row in read(pipelines[0], "five", root=tmp_path / "state").to_pylist()}
    inside = [(k, m, v) for n, batch in enumerate(rows) for m, k, v in batch if counted(m, n)]
    assert sum(fives.values()) == sum(1 for _, m, _ in inside if BEGIN + timedelta(minutes=m // 5 * 5 + 10) <= END)
    twenties = read(pipelines[1], "twenty", root=tmp_path / "state").to_pylist()
    assert twenties
    for row in twenties:
        low = (row["window_start"] - BEGIN) / timedelta(minutes=1)
        held = [v for k, m, v in inside if (k == row["k"] and low < m // 5 * 5 + 5 < low + 20) or (k == row["k"] and m // 5 * 5 + 5 == low)]
        assert row["n"] == len(held)
        assert row["mean"] == pytest.approx(sum(held) / len(held))
        assert row["top"] == max(held)


def counted(minute: float, batch: int) -> bool:
    """Whether a row's five minutes, and the grace after them, were not over when its batch began."""
    return minute // 5 * 5 + 10 > 10 * batch


# C7: v = 1..7 at minutes 1..7; counts of three: 6 at 3, 15 at 6; tumbling 5: [0, 5) 6, [5, 10) 15
def test_two_stages_of_spl(tmp_path: Path) -> None:
    write(tmp_path / "data", 0, [(n, "a", float(n)) for n in range(1, 8)])
    same: dict[str, Any] = {"schedule": "10m", "start": BEGIN}
    source = sources.files(str(tmp_path / "data" / "{start:%H%M}.parquet"), event_time="t")
    threes = Pipeline(name="threes", source=source, windows={"w": windows.by_count(3)}, aggregates={"total": agg.sum("v")}, **same)
    fives = Pipeline(
        name="fives",
        source=sources.windows(threes, "w"),
        windows={"w": windows.tumbling("5m")},
        aggregates={"total": agg.sum("total")},
        **same,
    )
    for each in (threes, fives):
        run(each, root=tmp_path / "state", start=BEGIN, end=BEGIN + STEP, spark=HERE)
    assert [
        (row["window_index"], row["window_end"].minute, row["total"]) for row in read(threes, "w", root=tmp_path / "state").to_pylist()
    ] == [
        (0, 3, 6.0),
        (1, 6, 15.0),
    ]
    assert [row["total"] for row in read(fives, "w", root=tmp_path / "state").to_pylist()] == [6.0, 15.0]


# S15: all keys of one window of the first stage are one window of the second
def test_punctuation_of_the_upstream(tmp_path: Path) -> None:
    write(tmp_path / "data", 0, [(0, "a", 1.0), (1, "b", 1.0), (2, "a", 1.0), (6, "b", 1.0)])
    one = stages(tmp_path / "data")[0]
    sets = Pipeline(
        name="sets", source=sources.windows(one, "five"), schedule="10m", start=BEGIN,
        windows={"set": windows.arrival(windows.by_punctuation("upstream"))}, aggregates={"keys": agg.count(), "n": agg.sum("n")},
    )  # fmt: skip
    write(tmp_path / "data", 1, [])
    for each in (one, sets):
        run(each, root=tmp_path / "state", start=BEGIN, end=BEGIN + 2 * STEP, spark=HERE)
    assert [(row["keys"], row["n"]) for row in read(sets, "set", root=tmp_path / "state").to_pylist()] == [(2, 3), (1, 1)]


def test_what_the_upstream_has_not_published_is_said(tmp_path: Path) -> None:
    write(tmp_path / "data", 0, [])
    with pytest.raises(SourceError, match=r"one has not published the batch .* of its window 'five'; run one over it first"):
        run(stages(tmp_path / "data")[1], root=tmp_path / "state", start=BEGIN, end=BEGIN + STEP, spark=HERE)


def test_impossible_stages_are_refused(tmp_path: Path) -> None:
    one, two, _ = stages(tmp_path)
    same: dict[str, Any] = {"name": "p", "schedule": "10m", "start": BEGIN, "windows": {"w": windows.tumbling("1h")}}
    source = sources.windows(two, "twenty")
    for problem, definition in {
        "no window 'none' in pipeline 'one'; there are five, three": lambda: sources.windows(one, "none"),
        "may be of any length": lambda: sources.windows(one, "three", event_time="window_start"),
        "no aggregate 'none' upstream; there are held, n": lambda: Pipeline(source=source, aggregates={"x": agg.merge("none")}, **same),
        "give both the same": lambda: Pipeline(source=source, aggregates={"x": agg.count()}, **{**same, "schedule": "1h"}),
        "merge combines the states of upstream windows; give sources.windows": lambda: Pipeline(
            source=one.source, aggregates={"x": agg.merge("n")}, **same
        ),
        "merge combines the states of upstream windows; say retain=Retain(states_in_windows=True) in 'bare'": lambda: Pipeline(
            source=sources.windows(bare(one), "five"), aggregates={"x": agg.merge("n")}, **same
        ),
    }.items():
        with pytest.raises(DefinitionError, match=re.escape(problem)):
            definition()


def bare(one: Pipeline) -> Pipeline:
    """The same without its states."""
    return Pipeline(name="bare", source=one.source, schedule="10m", start=BEGIN, keys=["k"], windows=one.windows, aggregates=one.aggregates)
