"""Notes that several runs change at once: each change is made of the note as it is, on a disk and in an object store."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from muntin.files.paths import path_of
from muntin.jobs.state.notes import change_note, read_note, rewrite


def test_no_change_is_lost(roots: str) -> None:
    note = path_of(roots) / "folder" / "note.json"

    def add(number: int) -> None:
        change_note(note, lambda found: [*(found or ()), number])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(20)))
    assert sorted(read_note(note)) == list(range(20))


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
