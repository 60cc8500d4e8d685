"""New fields: a rebuild reads no other columns of the source, and the windows are those of a clean run, to the last bit."""

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.jobs.accumulate import joined_reading
from muntin.jobs.accumulate.read_batches import Read
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.outdated import outdated
from muntin.jobs.upkeep.rebuild import to_rebuild
from muntin.sources import listing
from tests.case_counts import random_seeds
from tests.properties.equal_values import bitwise
from tests.storage.three_batches import HERE, HOUR, START, Small

BATCHES = 6
COLUMNS = ("x", "y", "z")
OFFERED = {
    "total": agg.sum,
    "spread": agg.stddev,
    "most": agg.max,
    "last": agg.last,
    "some": lambda column: agg.collect(column, limit=4),
    "middle": agg.median,
    "kinds": agg.count_distinct,
}


@pytest.fixture
def joinings(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Read]]:
    """What was joined with earlier states."""
    found: list[Read] = []
    given = joined_reading._joined

    def noting(*words: object) -> Read:
        found.append(given(*words))
        return found[-1]

    monkeypatch.setattr(joined_reading, "_joined", noting)
    return found


def write(folder: Path, at: int, rows: int, chance: random.Random) -> None:
    """A batch: event times around its hour, keys, floats whose sum depends on their order, some rows that nobody can place."""
    (folder / "data").mkdir(exist_ok=True)
    times = [None if chance.random() < 0.05 else START + (at + chance.uniform(-0.8, 1)) * HOUR for _ in range(rows)]
    times = [max(each, START) if each else each for each in times]
    table = {"t": pa.array(times, pa.timestamp("us", tz="UTC")), "k": [chance.choice("aüz") for _ in range(rows)]}
    table |= {name: [chance.uniform(-1, 1) * 10 ** chance.randrange(9) for _ in range(rows)] for name in COLUMNS}
    pq.write_table(pa.table(table), folder / f"data/{at:02d}.parquet")


def definition(small: Small, chance: random.Random) -> Pipeline:
    kinds = {"hours": windows.sliding("2h", step="1h"), "visits": windows.session("20m"), "threes": windows.arrival(windows.by_count(3))}
    chosen = chance.sample([*kinds], chance.randrange(1, 4))
    return replace(small.pipeline, windows={name: kinds[name] for name in chosen}, keys=chance.choice((["k"], [])), aggregates=some(chance))


def some(chance: random.Random) -> dict[str, Aggregate]:
    found = {"n": agg.count()}
    for _ in range(chance.randrange(1, 4)):
        name, column = chance.choice([*OFFERED]), chance.choice(COLUMNS)
        found[f"{name}_{column}"] = OFFERED[name](column)
    return found


def run_all(pipeline: Pipeline, root: Path) -> None:
    run(pipeline, root=root, start=START, end=START + BATCHES * HOUR, spark=HERE)


def rebuild(pipeline: Pipeline, root: Path) -> None:
    """As `muntin run --rebuild`; then `muntin run`, as a state that is taken over whole has what was read."""
    todo = to_rebuild(bind(pipeline, root))
    start, end = (todo[0].interval_start, todo[-1].interval_end) if todo else (START, START + HOUR)
    run(pipeline, root=root, start=start, end=end, spark=HERE)
    for batch in outdated(pipeline, root=root, start=START, end=START + BATCHES * HOUR):
        run(pipeline, root=root, start=batch.interval_start, end=batch.interval_end, spark=HERE)


# before   n  total_x            of batches 0..5; some replaced since, some files written anew and not read
# after    n  total_x  middle_y  joined where the files are the same
@pytest.mark.parametrize("seed", random_seeds(60))
def test_the_windows_are_those_of_a_clean_run(tmp_path: Path, seed: int, joinings: list[Read]) -> None:
    chance, small = random.Random(seed), Small(tmp_path)
    for at in range(BATCHES):
        write(tmp_path, at, chance.randrange(0, 30), chance)
    before = definition(small, chance)
    run_all(before, tmp_path / "state")
    if chance.random() < 0.5:
        maintain(before, root=tmp_path / "state", older_than_us=0)
    anew = chance.sample(range(BATCHES), chance.choice((0, 0, 1, 2)))
    for at in anew:
        write(tmp_path, at, chance.randrange(1, 30), chance)
    after = replace(before, aggregates={**(before.aggregates if chance.random() < 0.7 else {}), **some(chance)})
    (rebuild if chance.random() < 0.5 else run_all)(after, tmp_path / "state")
    run_all(after, tmp_path / "clean")
    for name in after.windows:
        ours, clean = (read(after, name, root=tmp_path / root, provisional=True) for root in ("state", "clean"))
        assert bitwise(ours, clean), (seed, name)
    joined = {start for found in joinings for start in found.splits}
    assert not joined & {int((START + at * HOUR).timestamp() * 1e6) for at in anew}
    assert not list(Path(bind(after, tmp_path / "state").folder, "staging").glob("*/frames")), "the new fields alone are kept by nobody"


def large(folder: Path, at: int, rows: int) -> Path:
    """A batch in a file that is read alone."""
    (folder / "data").mkdir(exist_ok=True)
    dice = np.random.default_rng(at)
    times = pa.array(int((START + at * HOUR).timestamp() * 1e6) + dice.integers(0, 3_600_000_000, rows)).cast(pa.timestamp("us", tz="UTC"))
    columns = {"t": times, "k": dice.integers(0, 500, rows).astype(str), **{name: dice.normal(size=rows) for name in COLUMNS}}
    pq.write_table(pa.table(columns), folder / f"data/{at:02d}.parquet", use_dictionary=["k"])
    return folder / f"data/{at:02d}.parquet"


def spoil(file: Path, column: str) -> None:
    """Write nonsense over a column of a file, which looks the same from outside."""
    facts, times = pq.read_metadata(file), file.stat()
    place = facts.schema.names.index(column)
    with file.open("r+b") as content:
        for group in range(facts.num_row_groups):
            chunk = facts.row_group(group).column(place)
            content.seek(chunk.data_page_offset)
            content.write(b"\xff" * chunk.total_compressed_size)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.parametrize(("rows", "more"), [(60_000, {"y": agg.sum("y"), "far": agg.stddev("y")}), (150_000, {"y": agg.sum("y")})])
def test_no_other_column_of_the_source_is_read(
    tmp_path: Path, rows: int, more: dict[str, Aggregate], joinings: list[Read], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_written_ns", lambda stat: stat.st_mtime_ns)  # spoiled files look as they were
    kinds = {"hours": windows.sliding("2h", step="20m"), "visits": windows.session("2s")}
    before = replace(Small(tmp_path).pipeline, windows=kinds, aggregates={"n": agg.count(), "x": agg.sum("x")})
    after = replace(before, aggregates={**before.aggregates, **more})
    files = [large(tmp_path, at, rows) for at in range(2)]
    for root, definitions in (("clean", [after]), ("state", [before])):
        for pipeline in definitions:
            run(pipeline, root=tmp_path / root, start=START, end=START + 2 * HOUR, spark=HERE)
    for file in files:
        spoil(file, "x")
        spoil(file, "z")
    run(after, root=tmp_path / "state", start=START, end=START + 2 * HOUR, spark=HERE)
    assert [len(found.splits) for found in joinings] == [2]
    for name in kinds:
        assert bitwise(*(read(after, name, root=tmp_path / root, provisional=True) for root in ("state", "clean"))), name


def test_with_lists_large_splits_are_read_whole(tmp_path: Path, joinings: list[Read]) -> None:
    """DuckDB adds the values of many rows in an order of its own once lists stand beside the sums."""
    before = replace(Small(tmp_path).pipeline, aggregates={"n": agg.count(), "x": agg.sum("x")})
    after = replace(before, aggregates={**before.aggregates, "middle": agg.median("y")})
    for at, rows in enumerate((150_000, 100)):
        large(tmp_path, at, rows)
    for pipeline in (before, after):
        run(pipeline, root=tmp_path / "state", start=START, end=START + 2 * HOUR, spark=HERE)
    assert [sorted(found.splits) for found in joinings] == [[int((START + HOUR).timestamp() * 1e6)]]


def test_a_batch_with_damaged_states_is_read_whole(tmp_path: Path, joinings: list[Read]) -> None:
    small = Small(tmp_path)
    small.write_all()
    small.run("state")
    folder = bind(small.pipeline, tmp_path / "state").folder
    damaged = next(Path(folder, "frames").rglob("20240101T01*/*.parquet"), None) or next(Path(folder, "frames").rglob("*.parquet"))
    damaged.write_bytes(b"torn" * (damaged.stat().st_size // 4) + b"." * (damaged.stat().st_size % 4))
    after = replace(small.pipeline, aggregates={**small.pipeline.aggregates, "most": agg.max("x")})
    for root in ("state", "clean"):
        run(after, root=tmp_path / root, start=START, end=START + 3 * HOUR, spark=HERE)
    assert sum(len(found.splits) for found in joinings) < 3
    for name in after.windows:
        assert bitwise(*(read(after, name, root=tmp_path / root) for root in ("state", "clean")))
