"""SPL's users asked for it: by how much a value may grow is said by the output of the window before (C4)."""

import random
import statistics
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from tests.storage.three_batches import HERE

BEGIN, STEP = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=10)


def define(folder: Path, window: object) -> Pipeline:
    source = sources.files(str(folder / "{start:%H%M}.parquet"), event_time="t")
    aggregates = {"n": agg.count(), "mean_v": agg.mean("v"), "stddev_v": agg.stddev("v"), "first_v": agg.first("v")}
    return Pipeline(name="p", source=source, schedule="10m", start=BEGIN, keys=["k"], windows={"w": window}, aggregates=aggregates)


def write(folder: Path, number: int, rows: list[tuple[str, float]]) -> None:
    times = pa.array([BEGIN + number * STEP + timedelta(seconds=n) for n in range(len(rows))], pa.timestamp("us", tz="UTC"))
    table = pa.table({"t": times, "k": pa.array([k for k, _ in rows], pa.string()), "v": pa.array([v for _, v in rows], pa.float64())})
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / f"{BEGIN + number * STEP:%H%M}.parquet")


def naive(values: list[float], first: float) -> list[list[float]]:
    """By twice the deviation of the window before; where that has none, by the first."""
    found, held, may = [], [], first
    for value in values:
        if held and value - held[0] > may:
            found.append(held)
            may = 2 * statistics.stdev(held) if len(held) > 1 else first
            held = []
        held = [*held, value]
    return found


# first 1.0: 0, 0.5, then 2 is beyond; their mean 0.25 is what the next window may grow by: 2.2 belongs, 2.3 does not
def test_the_example(tmp_path: Path) -> None:
    write(tmp_path, 0, [("a", value) for value in (0.0, 0.5, 2.0, 2.2, 2.3)])
    pipeline = define(tmp_path, windows.by_delta("v", "mean_v", first=1.0))
    run(pipeline, root=tmp_path / "state", start=BEGIN, end=BEGIN + STEP, spark=HERE)
    rows = read(pipeline, "w", root=tmp_path / "state", provisional=True).to_pylist()
    assert [(row["window_index"], row["n"], row["first_v"], row["provisional"]) for row in rows] == [
        (0, 2, 0.0, False),
        (1, 2, 2.0, False) if 2.3 - 2.0 > 0.25 else (1, 3, 2.0, True),
        (2, 1, 2.3, True),
    ]


def test_over_batches_in_bulk_and_replaced(tmp_path: Path) -> None:
    dice, keys, data = random.Random(7), "abc", tmp_path / "data"
    batches = [[(dice.choice(keys), dice.uniform(0, 5) + 2 * at) for _ in range(dice.choice([0, 4, 25]))] for at in range(8)]
    for number, rows in enumerate(batches):
        write(data, number, rows)
    pipeline = define(data, windows.by_delta("v", "2 * stddev_v", first=1.0))
    whole, steps = tmp_path / "whole", tmp_path / "steps"
    run(pipeline, root=whole, start=BEGIN, end=BEGIN + 8 * STEP, spark=HERE)
    write(data, 2, batches[5])
    for at in range(8):
        run(pipeline, root=steps, start=BEGIN + at * STEP, end=BEGIN + (at + 1) * STEP, spark=HERE)
    write(data, 2, batches[2])
    run(pipeline, root=steps, start=BEGIN + 2 * STEP, end=BEGIN + 3 * STEP, spark=HERE)
    found = read(pipeline, "w", root=whole)
    assert read(pipeline, "w", root=steps).equals(found)
    for key in keys:
        wanted = naive([value for rows in batches for k, value in rows if k == key], 1.0)
        own = [row for row in found.to_pylist() if row["k"] == key]
        assert [(row["n"], row["first_v"]) for row in own] == [(len(held), held[0]) for held in wanted]
        assert [row["window_index"] for row in own] == list(range(len(wanted)))


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    write(tmp_path, 0, [("a", 0.0), ("a", 5.0)])
    pipeline = define(tmp_path, windows.by_delta("v", "2 * spread", first=1.0))
    with pytest.raises(DefinitionError, match=r"'2 \* spread' does not fit the results of a window.*There are n, mean_v"):
        run(pipeline, root=tmp_path / "state", start=BEGIN, end=BEGIN + STEP, spark=HERE)


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: windows.by_delta("v", "2 * stddev_v"), "give first= for the first window"),
        (lambda: windows.by_delta("v", 1.5, first=1.0), "give a number of 0 or more, and an expression"),
        (lambda: windows.arrival(windows.by_delta("v", "n", first=1), trigger=windows.by_count(1)), "leave out the trigger"),
        (lambda: windows.arrival(windows.by_delta("v", "n", first=1), partitions=windows.keep(age="1h")), "does not go with"),
    ],
)
def test_impossible_ones_are_refused(build: object, problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        build()
