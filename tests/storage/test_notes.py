"""Notes that several runs change at once: each change is made of the note as it is, on a disk and in an object store."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from muntin.files.paths import path_of
from muntin.jobs.records.approvals import Approval
from muntin.jobs.records.verdicts import last_verdicts, note_despite, note_verdict
from muntin.jobs.state import source_note
from muntin.jobs.state.notes import change_note, read_note, rewrite
from tests.alerts.made import report
from tests.end_to_end.hourly import START


def test_no_change_is_lost(roots: str) -> None:
    note = path_of(roots) / "folder" / "note.json"

    def add(number: int) -> None:
        change_note(note, lambda found: [*(found or ()), number])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(20)))
    assert sorted(read_note(note)) == list(range(20))


def test_verdicts_and_columns_of_runs_at_once_are_all_kept(tmp_path: Path) -> None:
    """Both notes were read, and written later, by each run: the last of them had what it knew alone."""

    def run(number: int) -> None:
        note_verdict(tmp_path, report(window="day") | {"rows": number}, [], START)
        source_note.note(tmp_path, lambda known: {**known, f"column {number}": "BIGINT"})

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run, range(16)))
    assert sorted(each["rows"] for each in last_verdicts(tmp_path, "day")) == list(range(16))
    assert len(source_note.noted(tmp_path)) == 16


def test_an_approval_is_kept_beside_a_verdict_that_comes_at_once(tmp_path: Path) -> None:
    note_verdict(tmp_path, report(window="day") | {"name": "3f2a"}, [], START)
    with ThreadPoolExecutor(4) as threads:
        for _ in range(8):
            threads.submit(note_verdict, tmp_path, report(window="day"), [], START)
        threads.submit(note_despite, tmp_path, ["day"], Approval("3f2a", "ann", "a strike"))
    assert [each["despite"]["by"] for each in last_verdicts(tmp_path, "day") if "despite" in each] == ["ann"]


def test_a_verdict_that_comes_again_is_there_once(tmp_path: Path) -> None:
    day = 86_400_000_000
    for files, starts, name in ((["a"], [0], "3f2a"), (["b"], [0], "3f2a"), (["c"], [day], "3f2a"), (["d"], [0], "3f2a")):
        note_verdict(tmp_path, report(window="day") | {"name": name, "files": files}, starts, START)
        note_despite(tmp_path, ["day"], Approval(name, "ann", "a strike"))
    found = last_verdicts(tmp_path, "day")
    assert [(each["files"], each["batches"]) for each in found] == [(["d"], [0, 0]), (["c"], [day, day])]
    note_verdict(tmp_path, report(window="day") | {"name": "3f2a"}, [0], START)
    assert last_verdicts(tmp_path, "day")[0]["despite"]["by"] == "ann"


@pytest.mark.parametrize("content", [None, b"", b"{", b"\xff"])
def test_a_missing_or_damaged_note_is_none(roots: str, content: bytes | None) -> None:
    note = path_of(roots) / "note.json"
    if content is not None:
        note.write_bytes(content)
    assert read_note(note) is None
    change_note(note, lambda found: {"was": found})
    assert read_note(note) == {"was": None}


def test_none_leaves_a_file_as_it_is(roots: str) -> None:
    note = path_of(roots) / "note"
    rewrite(note, lambda _: None)
    assert not note.exists()
    rewrite(note, lambda before: (before or b"") + b"x")
    rewrite(note, lambda _: None)
    assert note.read_bytes() == b"x"


def test_another_writer_between_reading_and_writing_is_seen(bucket: str) -> None:
    """In an object store nobody waits: what was made of an older note is made again."""
    note, seen = path_of(bucket) / "note.json", []

    def changed(found: list[int] | None) -> list[int]:
        seen.append(found)
        if len(seen) == 1:
            change_note(note, lambda other: [*(other or ()), 1])
        return [*(found or ()), 2]

    change_note(note, changed)
    assert (seen, read_note(note)) == ([None, [1]], [1, 2])
