"""Vacuum removes notes of what was open that no ledger names, and only these."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.durations import UNITS
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.publish.publish import publish
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.vacuum import vacuum
from tests.storage.three_batches import HERE

BEGIN, STEP = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1)


def write(folder: Path, number: int, values: list[int]) -> None:
    times = pa.array([BEGIN + number * STEP] * len(values), pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"t": times, "v": values}), folder / f"{BEGIN + number * STEP:%H}.parquet")


def test_notes_that_count_stay(tmp_path: Path) -> None:
    source = sources.files(str(tmp_path / "{start:%H}.parquet"), event_time="t")
    pipeline = Pipeline(
        name="p", source=source, schedule="1h", start=BEGIN, windows={"w": windows.by_count(3)}, aggregates={"sum": agg.sum("v")}
    )  # fmt: skip
    for number, values in enumerate([[1, 2], [3, 4], [5]]):
        write(tmp_path, number, values)
        run(pipeline, root=tmp_path / "state", start=BEGIN + number * STEP, end=BEGIN + (number + 1) * STEP, spark=HERE)
    write(tmp_path, 1, [3, 40])
    run(pipeline, root=tmp_path / "state", start=BEGIN + STEP, end=BEGIN + 2 * STEP, spark=HERE)
    later = datetime.now(UTC) + timedelta(days=3)
    removed = {one.what: one.files for one in vacuum(tmp_path / "state", older_than_us=UNITS["d"], now=later)}
    assert removed["outlived notes"] == 2
    notes = sorted(path.name for path in (tmp_path / "state").rglob("carry/**/*.parquet"))
    assert len(notes) == 3
    write(tmp_path, 3, [6])
    run(pipeline, root=tmp_path / "state", start=BEGIN + 3 * STEP, end=BEGIN + 4 * STEP, spark=HERE)
    assert [row["sum"] for row in read(pipeline, "w", root=tmp_path / "state").to_pylist()] == [6, 51]


# the notes of a staged batch look old: they were made long ago with the same content, or the clock says so
def test_a_note_that_staged_windows_need_stays_however_old(tmp_path: Path) -> None:
    source = sources.files(str(tmp_path / "{start:%H}.parquet"), event_time="t")
    pipeline = Pipeline(
        name="p", source=source, schedule="1h", start=BEGIN, windows={"w": windows.by_count(3)}, aggregates={"sum": agg.sum("v")}
    )  # fmt: skip
    for number, values in enumerate([[1, 2], [3, 4]]):
        write(tmp_path, number, values)
    run(pipeline, root=tmp_path / "state", start=BEGIN, end=BEGIN + STEP, spark=HERE)
    bound = bind(pipeline, tmp_path / "state")
    second = pipeline.intervals.intervals(*(int((BEGIN + at * STEP).timestamp()) * 1_000_000 for at in (1, 2)))
    accumulate(bound, HERE, second)
    staged = finalize(bound, HERE, [second[0].start_us])
    notes, old = [*Path(bound.folder).rglob("carry/**/*.parquet")], datetime.now(UTC).timestamp() - 3 * 86_400
    assert len(notes) == 2
    for note in notes:
        os.utime(note, (old, old))
    assert not [one for one in vacuum(tmp_path / "state", older_than_us=UNITS["d"]) if one.what == "outlived notes"]
    publish(bound, staged)
    assert read(pipeline, "w", root=tmp_path / "state")["sum"].to_pylist() == [6]
    write(tmp_path, 2, [5, 6])
    run(pipeline, root=tmp_path / "state", start=BEGIN + 2 * STEP, end=BEGIN + 3 * STEP, spark=HERE)
    assert read(pipeline, "w", root=tmp_path / "state")["sum"].to_pylist() == [6, 15]


def test_the_same_note_is_none_if_the_staging_is_gone(tmp_path: Path) -> None:
    """So that the test before this one may fail."""
    source = sources.files(str(tmp_path / "{start:%H}.parquet"), event_time="t")
    pipeline = Pipeline(
        name="p", source=source, schedule="1h", start=BEGIN, windows={"w": windows.by_count(3)}, aggregates={"sum": agg.sum("v")}
    )  # fmt: skip
    write(tmp_path, 0, [1, 2])
    bound = bind(pipeline, tmp_path / "state", claim=True)
    first = pipeline.intervals.intervals(*(int((BEGIN + at * STEP).timestamp()) * 1_000_000 for at in (0, 1)))
    accumulate(bound, HERE, first)
    bound.store.discard(finalize(bound, HERE, [first[0].start_us]).folder)
    later = datetime.now(UTC) + timedelta(days=3)
    assert [one.files for one in vacuum(tmp_path / "state", older_than_us=UNITS["d"], now=later) if one.what == "outlived notes"] == [1]
