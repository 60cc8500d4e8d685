"""A file that is written while it is read, or after, does not count by what it no longer is."""

import json
import os
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin import read, windows
from muntin.errors import SourceError
from muntin.jobs.accumulate import accumulate_split, accumulate_task
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.outdated import outdated
from muntin.sources.listing import digest
from tests.end_to_end.hourly import Hourly, hour, times

TWO_FRAME_SETS = {
    "windows": {"hour": windows.tumbling("1h"), "pairs": windows.arrival(windows.by_count(2))},
    "aggregates": {"total": agg.sum("x")},
}
Write = Callable[[int], Path]


def hourly(folder: Path, **source: Any) -> tuple[Hourly, Write]:
    """The pipeline, and how to write its file: always as many bytes, with other values."""
    case = Hourly(folder, source=source, other=TWO_FRAME_SETS)
    return case, lambda x: case.write("00.parquet", {"at": times(1, 2), "x": [x, x]})


def after_frame_sets(monkeypatch: pytest.MonkeyPatch, acts: Iterable[Callable[[], object]]) -> None:
    """An act after each frame set that is written, as long as there are acts."""
    written, rest = accumulate_split._write_states, iter(acts)

    def and_then(*given: Any) -> Any:
        done = written(*given)
        next(rest, lambda: None)()
        return done

    monkeypatch.setattr(accumulate_split, "_write_states", and_then)
    monkeypatch.setattr(accumulate_task, "_TRIES", 3)
    monkeypatch.setattr(accumulate_task, "_FIRST_S", 0)


def why(case: Hourly) -> list[str]:
    return [one.reason for one in outdated(case.pipeline, root=case.root, start=hour(0), end=hour(1))]


def totals(case: Hourly) -> list[list[Any]]:
    return [read(case.pipeline, name, root=case.root)["total"].to_pylist() for name in ("hour", "pairs")]


def manifest(case: Hourly) -> Any:
    (report,) = last_accumulated(bind(case.pipeline, case.root).store).values()
    return json.loads(report["files"])


# reading   frames by time (1, 1) | the file says 2 | rows by arrival (2, 2)      and once more from the start
def test_frame_sets_are_of_one_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, write = hourly(tmp_path)
    write(1)
    after_frame_sets(monkeypatch, [partial(write, 2)])
    case.run()
    assert totals(case) == [[4], [4]]
    assert why(case) == []


def test_a_file_that_never_rests_is_named_and_nothing_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, write = hourly(tmp_path)
    write(1)
    after_frame_sets(monkeypatch, (partial(write, x) for x in count(2)))
    with pytest.raises(SourceError, match=r"00\.parquet: written while it was read, 3 times"):
        case.run()
    assert totals(case) == [[], []]


def test_a_file_that_cannot_be_read_is_read_again_if_it_was_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, write = hourly(tmp_path)
    write(1)
    guarded, calls = accumulate_task.read_split, iter([True])

    def half_written(*given: Any) -> Any:
        if next(calls, False):
            write(2)
            raise SourceError("half a file")
        return guarded(*given)

    after_frame_sets(monkeypatch, [])
    monkeypatch.setattr(accumulate_task, "read_split", half_written)
    case.run()
    assert totals(case) == [[4], [4]]


def test_a_file_that_goes_meanwhile_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, write = hourly(tmp_path)
    path = write(1)
    after_frame_sets(monkeypatch, [path.unlink])
    with pytest.raises(SourceError, match=r"00\.parquet: gone"):
        case.run()


# written again with as many bytes, by a clock that may be long before or long after the one of the report
@pytest.mark.parametrize("written_ns", [1, 10**18, 4 * 10**18])
def test_the_manifest_says_what_was_read(written_ns: int, tmp_path: Path) -> None:
    case, write = hourly(tmp_path)
    path = write(1)
    case.run()
    stat = path.stat()
    assert manifest(case) == [[str(path), stat.st_size, 2, max(stat.st_mtime_ns, stat.st_ctime_ns), digest(str(path))]]
    assert why(case) == []
    write(2)
    os.utime(path, ns=(written_ns, written_ns))
    assert why(case) == ["written since it was read: 00.parquet"]


def test_the_content_tells_what_size_and_time_do_not(tmp_path: Path) -> None:
    case, write = hourly(tmp_path)
    path = write(1)
    case.run()
    stat = path.stat()
    os.utime(path, ns=(1, 1))
    assert why(case) == []
    write(2)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    assert why(case) == ["written since it was read: 00.parquet"]
    case.run()
    assert totals(case) == [[4], [4]]
    assert why(case) == []


def test_the_same_content_read_again_is_no_other_source(tmp_path: Path) -> None:
    case, write = hourly(tmp_path)
    path = write(1)
    case.run()
    os.utime(path, ns=(1, 1))
    assert [batch.source_changed for batch in case.run().batches] == [False]
    write(2)
    assert [batch.source_changed for batch in case.run().batches] == [True]
