"""Whatever a power cut leaves of a run is a run that was killed: files are on the disk before the commit that names them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from muntin.errors import StateError
from muntin.store.delta import DeltaStore
from tests.storage.three_batches import Small


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, set[str]]]]:
    """What was synced, in order, each with the log entries that were there then."""
    done: list[tuple[str, set[str]]] = []
    plain = os.fsync

    def watched(number: int) -> None:
        path = Path(f"/proc/self/fd/{number}").readlink()
        table = next((folder for folder in (path, *path.parents) if (folder / "_delta_log").exists()), None)
        done.append((str(path), {each.name for each in (table / "_delta_log").glob("*.json")} if table else set()))
        plain(number)

    monkeypatch.setattr(os, "fsync", watched)
    monkeypatch.setenv("MUNTIN_SYNC", "on")
    return done  # type: ignore[return-value]


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made = Small(tmp_path)
    made.write_all()
    return made


# synced   a.parquet   its folders   commit 0   its folders   b.parquet   ...
def test_files_are_on_the_disk_before_the_commit_that_names_them(small: Small, synced: list[tuple[str, set[str]]]) -> None:
    small.run("state")
    small.run("state", 1, 1)
    store = small.store("state")
    first: dict[str, tuple[int, set[str]]] = {}
    for place, (path, log) in enumerate(synced):
        first.setdefault(path, (place, log))
    tables = sorted((small.folder / "state").rglob("_delta_log"))
    assert len(tables) == 5
    for log in tables:
        entries = sorted(log.glob("*.json"))
        assert {str(entry) for entry in entries} <= first.keys(), "each commit is on the disk before the next step"
        relative = os.path.relpath(log.parent, store.root)
        for file in DeltaStore(store.root).snapshot(relative).files:
            place, seen = first[str(log.parent / file.path)]
            named = next(entry for entry in entries if f'"{file.path}"' in entry.read_text())
            assert named.name not in seen, "it was synced before the commit"
            assert place < first[str(named)][0]
            for folder in (log.parent / file.path).parents:
                if folder.is_relative_to(small.folder / "state"):
                    assert str(folder) in first


def test_it_may_be_left_to_the_file_system(small: Small, synced: list[tuple[str, set[str]]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_SYNC", "off")
    small.run("state")
    assert synced == []


def test_what_is_neither_is_refused(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_SYNC", "yes")
    with pytest.raises(StateError, match="MUNTIN_SYNC: 'yes'"):
        small.run("state")


def test_a_disk_that_refuses_is_told(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("MUNTIN_SYNC", "on")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StateError, match="no space left"):
            small.run("state")
    small.run("state")
    assert all(map(len, small.tables("state").values()))
