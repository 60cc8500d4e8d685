"""Windows by arrival over files of which some hold every column of their states, as groups of rows do, and some each value once."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.jobs.accumulate import accumulate_split
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.housekeeping.compact import compact
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.states.derived_columns import footer_of
from tests.case_counts import random_seeds
from tests.properties.equal_values import bitwise
from tests.storage.three_batches import HERE, HOUR, START, Small

BATCHES = 5
TYPES = (pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(9, 2))
WIDER = ((pa.int32(), pa.int64()), (pa.float32(), pa.float64()), (pa.int32(), pa.float64()), (pa.decimal128(9, 2), pa.decimal128(12, 2)))
KINDS = {
    "threes": windows.arrival(windows.by_count(3)),
    "last": windows.arrival(windows.by_count(4), trigger=windows.by_count(1), incomplete=True),
    "grown": windows.arrival(windows.by_delta("x", 20)),
    "marked": windows.arrival(windows.by_punctuation("x > 30")),
    "hours": windows.tumbling("1h"),
}
OFFERED = {
    "total": agg.sum,
    "mean": agg.mean,
    "least": agg.min,
    "most": agg.max,
    "known": agg.count,
    "first": agg.first,
    "last": lambda column: agg.last(column, ignore_nulls=True),
    "some": lambda column: agg.sum(column, where="x > 0"),
    "positive": lambda column: agg.max(column, where="x > 0"),
    "spread": agg.stddev,
}


@contextmanager
def every_column() -> Iterator[None]:
    """States are written with every column, as groups of rows are."""
    with mock.patch.object(accumulate_split, "rows_as_states", return_value=None):
        yield


def write(folder: Path, at: int, chance: random.Random, kind: pa.DataType) -> None:
    """A batch: numbers and nulls, negative zeros among floats."""
    (folder / "data").mkdir(exist_ok=True)
    rows = chance.randrange(12)
    times = [START + (at + chance.random()) * HOUR for _ in range(rows)]
    plain = pa.array([chance.choice((None, -0.0, 1, 7, -25, 40, 99)) for _ in range(rows)], pa.float64())
    x = plain.cast(kind) if pa.types.is_floating(kind) else plain.cast(pa.int8()).cast(kind)
    keys = pa.array([chance.choice("ab") for _ in range(rows)], pa.string())
    pq.write_table(pa.table({"t": pa.array(times, pa.timestamp("us", tz="UTC")), "k": keys, "x": x}), folder / f"data/{at:02d}.parquet")


def some(chance: random.Random) -> dict[str, Aggregate]:
    chosen = chance.sample([*OFFERED], chance.randrange(1, len(OFFERED)))
    return {name: OFFERED[name]("x") for name in chosen if name != "spread" or chance.random() < 0.2} or {"n": agg.count()}


def definition(folder: Path, chance: random.Random) -> Pipeline:
    chosen = ["threes", *chance.sample([*KINDS][1:], chance.randrange(3))]
    return replace(Small(folder).pipeline, windows={name: KINDS[name] for name in chosen}, aggregates=some(chance))


def some_batches(pipeline: Pipeline, root: Path, chance: random.Random, batches: range) -> None:
    """Batches written in either way, one by one or together."""
    for each in (batches,) if chance.random() < 0.5 else [range(at, at + 1) for at in batches]:
        start, end = START + each.start * HOUR, START + each.stop * HOUR
        if chance.random() < 0.5:
            run(pipeline, root=root, start=start, end=end, spark=HERE)
        else:
            with every_column():
                run(pipeline, root=root, start=start, end=end, spark=HERE)


def tidy(pipeline: Pipeline, root: Path, chance: random.Random) -> None:
    if chance.random() < 0.5:
        compact(bind(pipeline, root))
    else:
        maintain(pipeline, root=root, older_than_us=0)


def same_as_clean(pipeline: Pipeline, folder: Path, seed: int) -> None:
    with every_column():
        run(pipeline, root=folder / "clean", start=START, end=START + BATCHES * HOUR, spark=HERE)
    for name in pipeline.windows:
        ours, clean = (read(pipeline, name, root=folder / root, provisional=True) for root in ("state", "clean"))
        assert bitwise(ours, clean), (seed, name)


@pytest.mark.parametrize("seed", random_seeds(40))
def test_files_of_both_ways_give_the_windows_of_one(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MANY", 2)
    chance = random.Random(seed)
    types = chance.choice([*((kind,) for kind in TYPES), *WIDER])
    for at in range(BATCHES):
        write(tmp_path, at, chance, types[min(at // 2, len(types) - 1)])
    pipeline, root = definition(tmp_path, chance), tmp_path / "state"
    some_batches(pipeline, root, chance, range(BATCHES))
    for _ in range(2):
        at = chance.randrange(BATCHES)
        write(tmp_path, at, chance, types[min(at // 2, len(types) - 1)])
        some_batches(pipeline, root, chance, range(at, at + 1))
        if chance.random() < 0.5:
            tidy(pipeline, root, chance)
    if chance.random() < 0.5:  # files of the states so far are adopted, or joined with new fields
        pipeline = replace(pipeline, aggregates={**(pipeline.aggregates if chance.random() < 0.7 else {}), **some(chance)})
        some_batches(pipeline, root, chance, range(BATCHES))
    same_as_clean(pipeline, tmp_path, seed)


def test_files_put_together_hold_values_once_if_each_of_them_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MANY", 2)
    chance = random.Random(3)
    for at in range(BATCHES):
        write(tmp_path, at, chance, pa.float64())
    pipeline = replace(definition(tmp_path, chance), aggregates={"total": agg.sum("x"), "least": agg.min("x")})
    root = tmp_path / "state"
    for at in range(BATCHES):
        run(pipeline, root=root, start=START + at * HOUR, end=START + (at + 1) * HOUR, spark=HERE)
        compact(bind(pipeline, root))
    bound = bind(pipeline, root)
    files = [f"{bound.folder}/frames/rows/{file.path}" for file in bound.store.snapshot("frames/rows").files]
    assert len(files) < BATCHES
    assert all("sum_x" not in pq.read_schema(file).names for file in files)
    kept = [file for file in files if footer_of(pq.read_schema(file))]
    assert sum(pq.read_metadata(file).num_rows for file in kept) == sum(
        pq.read_metadata(file).num_rows - pc.sum(pq.read_table(file, partitioning=None)["t"].is_null()).as_py()
        for file in (tmp_path / "data").iterdir()
        if pq.read_metadata(file).num_rows
    )
    same_as_clean(pipeline, tmp_path, 3)


def test_a_difference_of_event_times_is_held_as_the_frame_and_gives_the_same_windows(tmp_path: Path) -> None:
    """`by_delta("t", ...)` holds nothing beside the frame; the same instant as another expression holds a column."""
    chance = random.Random(5)
    for at in range(BATCHES):
        write(tmp_path, at, chance, pa.float64())
    found = []
    for number, of in enumerate(("t", "t + INTERVAL 0 SECOND")):
        kinds = {"grown": windows.arrival(windows.by_delta(of, "20m"))}
        pipeline = replace(Small(tmp_path).pipeline, windows=kinds, aggregates={"n": agg.count(), "total": agg.sum("x")})
        root = tmp_path / f"state{number}"
        run(pipeline, root=root, start=START, end=START + BATCHES * HOUR, spark=HERE)
        bound = bind(pipeline, root)
        names = {name for file in bound.store.snapshot("frames/rows").files for name in columns_in(bound, file.path)}
        assert any(name.startswith("delta") for name in names) == bool(number)
        found.append(read(pipeline, "grown", root=root, provisional=True))
    assert len(found[0]) > BATCHES
    assert bitwise(*found)


def columns_in(bound: Any, path: str) -> list[str]:
    return list(pq.read_schema(f"{bound.folder}/frames/rows/{path}").names)
