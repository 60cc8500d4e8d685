"""Damage of every kind is found, named and mended: afterwards all is as a clean run would have it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muntin.errors import StateError
from muntin.jobs.doctor import diagnosis
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.doctor.repair import repair
from muntin.jobs.state.bound import bind
from muntin.store.delta import DeltaStore
from tests.case_counts import some
from tests.made_once import made_once
from tests.storage.test_crash_points import same
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small, one_by_one

START_US, HOUR_US = int(START.timestamp()) * 1_000_000, HOUR // timedelta(microseconds=1)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made_once(tmp_path, _three)
    return Small(tmp_path)


def _three(folder: Path) -> None:
    one_by_one(folder)
    Small(folder).run("clean")


def delete(path: Path) -> None:
    path.unlink()


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def one(small: Small, pattern: str, at: int = -1) -> Path:
    """A file of the state, by a pattern below its folder."""
    folder = Path(bind(small.pipeline, small.folder / "state").folder)
    place = folder.parent if pattern.startswith("windows") else folder
    return sorted(place.glob(pattern))[at]


CASES = [
    ("frames/20m/*/*.parquet", 0, delete),
    ("frames/20m/*/*.parquet", 1, flip),
    ("frames/20m/*/*.parquet", -1, cut),
    ("quarantine/*/*.parquet", 0, delete),
    ("windows/hours/*/*.parquet", 0, delete),
    ("windows/hours/*/*.parquet", -1, flip),
    ("windows/visits/*/*.parquet", 0, cut),
    ("windows/*/_delta_log/*.json", -1, cut),
    ("windows/hours/_delta_log/*.json", -1, empty),
    ("windows/hours/_delta_log/*.json", 1, delete),
    ("frames/20m/_delta_log/*.json", -1, empty),
    ("frames/20m/_delta_log/*.json", -1, cut),
    ("frames/20m/_delta_log/*.json", 0, cut),
    ("reports/_delta_log/*.json", -1, empty),
    ("reports/_delta_log/*.json", 0, delete),
    ("quarantine/_delta_log/*.json", 0, cut),
    ("windows/hours/ledger_*.parquet", -1, flip),
    ("windows/visits/ledger_*.parquet", 0, delete),
    ("reports/*.parquet", -1, delete),
    ("../muntin.json", 0, flip),
    ("../muntin.json", 0, delete),
]


@pytest.mark.parametrize(("pattern", "at", "harm"), some(CASES, one_in=3))
def test_damage_is_found_named_and_mended(small: Small, pattern: str, at: int, harm: Callable[[Path], None]) -> None:
    assert diagnose(small.pipeline, root=small.folder / "state", deep=True) == []
    path = one(small, pattern, at)
    harm(path)
    found = diagnose(small.pipeline, root=small.folder / "state", deep=True)
    assert any(each.place in str(path.resolve()) and "muntin doctor --mend" in each.mend for each in found), found
    assert repair(small.pipeline, root=small.folder / "state", spark=HERE)
    assert diagnose(small.pipeline, root=small.folder / "state", deep=True) == []
    assert same(small.tables("state"), small.tables("clean"))
    small.write(3, (181, 190, 170, None))
    for root in ("state", "clean"):
        small.run(root, 3, 3)
    assert same(small.tables("state"), small.tables("clean"))
    assert not repair(small.pipeline, root=small.folder / "state", spark=HERE)


@pytest.mark.parametrize("pattern", ["frames/20m/_delta_log/*.json", "quarantine/_delta_log/*.json"])
def test_a_replaced_batch_does_not_go_back_with_a_lost_commit(small: Small, pattern: str) -> None:
    """The files of the batch as it was before are there still, and nothing else is missing."""
    small.write(1, (*OTHER, None, None))
    for root in ("state", "clean"):
        small.run(root, 1, 1)
    cut(one(small, pattern))
    read = repair(small.pipeline, root=small.folder / "state", spark=HERE).read
    assert read == (START_US + HOUR_US,) if "frames" in pattern else START_US + HOUR_US in read
    assert same(small.tables("state"), small.tables("clean"))
    assert not repair(small.pipeline, root=small.folder / "state", spark=HERE)


@pytest.mark.parametrize("harm", [cut, empty])
@pytest.mark.parametrize("pattern", ["frames/20m/_delta_log/*.json", "windows/hours/_delta_log/*.json", "reports/_delta_log/*.json"])
def test_a_run_says_which_log_is_damaged_and_changes_nothing(small: Small, pattern: str, harm: Callable[[Path], None]) -> None:
    path = one(small, pattern)
    harm(path)
    before = sorted(path.parent.iterdir())
    with pytest.raises(StateError, match=r"cannot be read .* muntin doctor --mend FILE"):
        small.run("state", 2, 2)
    assert sorted(path.parent.iterdir()) == before


def test_a_damaged_state_is_written_anew_by_its_batch(small: Small) -> None:
    flip(one(small, "frames/20m/*/*.parquet", 0))
    small.run("state", 0, 0)
    assert diagnose(small.pipeline, root=small.folder / "state", deep=True) == []


def test_a_lost_note_is_no_trouble_and_is_forgotten(tmp_path: Path) -> None:
    from dataclasses import replace

    from muntin import run, windows

    small = Small(tmp_path)
    small.write_all()
    pipeline = replace(small.pipeline, windows={"threes": windows.arrival(windows.by_count(3))})
    run(pipeline, root=tmp_path / "state", start=START, end=START + 3 * HOUR, spark=HERE)
    flip(next(Path(bind(pipeline, tmp_path / "state").folder).glob("carry/**/*.parquet")))
    [found] = diagnose(pipeline, root=tmp_path / "state", deep=True)
    assert (found.problem.startswith("lost or damaged: 1 note of threes"), found.mend.startswith("none needed")) == (True, True)
    assert repair(pipeline, root=tmp_path / "state", spark=HERE).notes == 1
    assert diagnose(pipeline, root=tmp_path / "state", deep=True) == []


def test_a_disk_on_which_both_of_two_writers_win(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "_wins", lambda *_: True)
    [found] = diagnose(small.pipeline, root=small.folder / "state")
    assert "of two writers of one version 2 won" in found.problem


def test_a_disk_with_another_clock(small: Small) -> None:
    [found] = diagnose(small.pipeline, root=small.folder / "state", now=datetime.now(UTC) - timedelta(hours=1))
    assert "its clock is +3600 s from this machine's" in found.problem


def test_the_trial_leaves_nothing(small: Small) -> None:
    diagnose(small.pipeline, root=small.folder / "state")
    assert {path.name for path in (small.folder / "state").iterdir()} == {"small"}
    assert DeltaStore(small.folder / "state").snapshot("race0").version == -1
