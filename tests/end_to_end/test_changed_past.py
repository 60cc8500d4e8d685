"""What changes in the files of earlier batches is read again by the next run, which names another batch."""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from muntin import Limits, plan, read, run
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.extensions.airflow import steps
from muntin.extensions.airflow.place import Place
from muntin.jobs.inputs.inputs import source_changes
from muntin.jobs.inputs.listings import of_files
from muntin.jobs.inspect.status import status
from muntin.jobs.published.staged_windows import load_staged
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly, hour, times

HOURS = 4
OTHER = {"aggregates": {"n": agg.count(), "first": agg.first("x"), "x": agg.sum("x")}}
NOW_US = int(time.time() * 1e6)


def hours(folder: Path, suffix: str = "parquet", **other: object) -> Hourly:
    """Hours with an event each, of which all but the last are published."""
    case = Hourly(folder, path=f"{{start:%H}}/*.{suffix}", source={"missing": "empty", "types": {"x": "BIGINT"}}, other=OTHER | other)
    for at in range(HOURS):
        write(case, at, "a", at)
    case.run(0, HOURS - 2)
    return case


def write(case: Hourly, at: int, name: str, *x: int) -> Path:
    suffix = case.path.rpartition(".")[2]
    return case.write(f"{at:02d}/{name}.{suffix}", {"at": times(*(60 * at + 1 + n for n in range(len(x)))), "x": x})


def clean(case: Hourly, folder: Path) -> list[tuple[object, ...]]:
    """What a first run over the files as they are now publishes."""
    shutil.copytree(case.folder / "data", folder / "data")
    fresh = replace(case, folder=folder)
    fresh.run(0, HOURS - 1)
    return rows(fresh)


def rows(case: Hourly) -> list[tuple[object, ...]]:
    return read(case.pipeline, "hour", root=case.root).to_pylist()


def rewritten_with_as_many_bytes(case: Hourly) -> None:
    path = write(case, 0, "a", 7)
    os.utime(path, ns=(1, 1))


CHANGES: dict[str, Callable[[Hourly], object]] = {
    "a file more": lambda case: write(case, 0, "b", 10, 11),
    "written anew": lambda case: write(case, 1, "a", 10, 11),
    "as many bytes, and an earlier time": rewritten_with_as_many_bytes,
    "two batches": lambda case: (write(case, 0, "b", 10), write(case, 2, "0", 11)),
    "a file of a batch that was empty": lambda case: (write(case, 1, "b", 10), (case.folder / "data/01/a.parquet").unlink(missing_ok=True)),
}


@pytest.mark.parametrize(("change", "suffix"), paired(CHANGES, ["parquet", "csv"]))
def test_a_run_of_the_next_batch_mends_the_past(tmp_path: Path, change: str, suffix: str) -> None:
    case = hours(tmp_path / "own", suffix)
    CHANGES[change](case)
    report = case.run(HOURS - 1, HOURS - 1)
    assert rows(case) == clean(case, tmp_path / "clean")
    assert all(batch.source_changed for batch in report.batches[:-1])
    assert source_changes(bind(case.pipeline, case.root), NOW_US).why == {}


def test_some_files_gone_are_noticed_all_of_them_stay(tmp_path: Path) -> None:
    case = hours(tmp_path / "own")
    write(case, 0, "b", 10)
    case.run(HOURS - 1, HOURS - 1)
    before = rows(case)
    shutil.rmtree(case.folder / "data/01")
    (case.folder / "data/00/b.parquet").unlink()
    case.run(HOURS - 1, HOURS - 1)
    assert [row["n"] for row in before] == [2, 1, 1, 1]
    assert [row["n"] for row in rows(case)] == [1, 1, 1, 1]


def touched(case: Hourly) -> None:
    for path in (case.folder / "data").rglob("*.parquet"):
        os.utime(path, ns=(1, 1))


def copied(case: Hourly) -> None:
    shutil.copytree(case.folder / "data", case.folder / "copy")
    shutil.rmtree(case.folder / "data")
    (case.folder / "copy").rename(case.folder / "data")


def renamed(case: Hourly) -> None:
    (case.folder / "data/00/a.parquet").rename(case.folder / "data/00/z.parquet")


@pytest.mark.parametrize("same", [touched, copied, renamed])
def test_the_same_content_is_not_read_again(tmp_path: Path, same: Callable[[Hourly], None]) -> None:
    case = hours(tmp_path)
    same(case)
    assert len(case.run(HOURS - 1, HOURS - 1).batches) == 1


def test_a_file_that_is_still_being_written_waits(tmp_path: Path) -> None:
    case = hours(tmp_path, limits=Limits(settle_after="1h"))
    path = write(case, 0, "b", 10)
    assert len(case.run(HOURS - 1, HOURS - 1).batches) == 1
    (reason,) = source_changes(bind(case.pipeline, case.root), NOW_US).waiting.values()
    assert "b.parquet was written less than 1h ago" in reason
    os.utime(path, (1, 1))
    assert len(case.run(HOURS - 1, HOURS - 1).batches) == 2


def test_the_past_is_not_compared_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, compared = hours(tmp_path), []
    copied(case)
    digest = of_files.digest
    monkeypatch.setattr(of_files, "digest", lambda path: compared.append(path) or digest(path))
    case.run(HOURS - 1, HOURS - 1)
    assert len(compared) == HOURS - 1
    case.run(HOURS - 1, HOURS - 1)
    assert len(compared) == HOURS - 1


def test_a_batch_without_files_is_named_once(tmp_path: Path) -> None:
    case = hours(tmp_path)
    shutil.rmtree(case.folder / "data/01")
    (line,) = case.run(HOURS - 1, HOURS - 1).unsettled
    assert "[2024-01-01 01:00, 2024-01-01 02:00) have no file any more, and stay as they were read" in line
    assert case.run(HOURS - 1, HOURS - 1).unsettled == ()
    assert [row["n"] for row in rows(case)] == [1, 1, 1, 1]


# read   00 01 02    changed   00 01    limit 1
def test_more_than_the_limit_is_left_and_named_with_its_command(tmp_path: Path) -> None:
    case = hours(tmp_path, limits=Limits(settle_after=0, max_changed=1))
    before = rows(case)
    write(case, 0, "b", 10)
    write(case, 1, "b", 10)
    report = case.run(HOURS - 1, HOURS - 1)
    assert rows(case)[:2] == before[:2]
    (line,) = report.unsettled
    assert line.startswith("2 batches changed at the source, oldest 2024-01-01 00:00, more than max_changed=1")
    assert line.endswith("--end 2024-01-01T02:00")
    run(case.pipeline, root=case.root, end=hour(2), spark=Local(2))
    assert [row["n"] for row in rows(case)] == [2, 2, 1, 1]
    assert case.run(HOURS - 1, HOURS - 1).unsettled == ()


def test_a_past_that_cannot_be_read_does_not_hold_back_what_is_new(tmp_path: Path) -> None:
    case = hours(tmp_path)
    (case.folder / "data/00/a.parquet").write_bytes(b"no Parquet")
    (line,) = case.run(HOURS - 1, HOURS - 1).unsettled
    assert line.startswith("1 batch changed at the source, oldest 2024-01-01 00:00 and cannot be read: ")
    assert [row["n"] for row in rows(case)] == [1, 1, 1, 1]
    write(case, 0, "a", 5, 6)
    assert case.run(HOURS - 1, HOURS - 1).unsettled == ()
    assert [row["n"] for row in rows(case)] == [2, 1, 1, 1]


@pytest.mark.parametrize(("look_back", "noticed"), [("all", [0, 1, 2]), ("2h", [1, 2]), (None, [])])
def test_how_far_a_run_looks_back(tmp_path: Path, look_back: str | None, noticed: list[int]) -> None:
    case = hours(tmp_path)
    case = replace(case, source={**case.source, "look_back": look_back})
    for at in range(HOURS - 1):
        write(case, at, "b", 10)
    assert [each.start_us for each in source_changes(bind(case.pipeline, case.root), NOW_US).why] == [
        instant_us(hour(at), "hour") for at in noticed
    ]


def test_a_run_without_a_range_reads_all_at_once(tmp_path: Path) -> None:
    case = hours(tmp_path)
    write(case, 0, "b", 10)
    write(case, 2, "b", 10)
    steps: list[str] = []
    run(case.pipeline, root=case.root, end=hour(HOURS), spark=Local(2), progress=steps.append)
    assert steps.count("accumulate") == 1
    assert [row["n"] for row in rows(case)] == [2, 1, 2, 1]


def test_a_task_of_airflow_reads_it_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    case = hours(tmp_path)
    write(case, 0, "b", 10)
    last = Interval(instant_us(hour(HOURS - 1), "start"), instant_us(hour(HOURS), "end"))
    place = Place(bind(case.pipeline, case.root), last)
    with caplog.at_level("INFO", logger="muntin"):
        staged = steps.finalize(place, Local(2), steps.accumulate(place, Local(2)))
    assert "1 other batch read, 1 of them changed at the source; oldest 2024-01-01" in caplog.messages
    assert load_staged(place.bound.store, staged["folder"]).windows[0].starts == [instant_us(hour(0), "first"), last.start_us]


def test_status_and_plan_say_it_before(tmp_path: Path) -> None:
    case = hours(tmp_path)
    write(case, 0, "b", 10)
    write(case, 2, "b", 10)
    assert status(case.pipeline, root=case.root, compared=True).changed == (hour(0), hour(2))
    planned = plan(case.pipeline, root=case.root, start=hour(HOURS - 1), end=hour(HOURS))
    assert [(batch.interval_start, batch.reading, batch.why) for batch in planned.batches] == [
        (hour(0), "changed", "new file: b.parquet"),
        (hour(2), "changed", "new file: b.parquet"),
        (hour(3), "new", None),
    ]
