"""A table that has lost its last commits, or was put back from an older copy: nothing is derived from it until a repair."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from muntin import as_of, over, read
from muntin.errors import StateError
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.doctor.repair import repair
from muntin.jobs.state.bound import bind
from tests.made_once import made_once
from tests.storage.test_crash_points import same
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small, at_once


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Batch 1 was replaced in the last run; `older`: the tables as they were before that."""
    made_once(tmp_path, _replaced)
    return Small(tmp_path)


def _replaced(folder: Path) -> None:
    at_once(folder)
    small = Small(folder)
    shutil.copytree(folder / "state/small", folder / "older")
    small.write(1, (*OTHER, None))
    for root in ("state", "clean"):
        small.run(root, 1, 1)
    small.run("clean")


def table(small: Small, name: str) -> Path:
    return Path(bind(small.pipeline, small.folder / "state").folder, name)


def last_commit(table: Path) -> Path:
    return max(path for path in (table / "_delta_log").glob("*.json"))


def lose(small: Small, name: str) -> None:
    last_commit(table(small, name)).unlink()


def put_back(small: Small, name: str) -> None:
    here, before = table(small, name).resolve(), small.folder / "older"
    shutil.rmtree(here)
    shutil.copytree(before / here.relative_to(small.folder / "state/small"), here)


@pytest.mark.parametrize("harm", [lose, put_back])
@pytest.mark.parametrize("name", ["frames/20m", "quarantine"])
def test_states_that_went_back_are_not_built_upon(small: Small, name: str, harm: Callable[[Small, str], None]) -> None:
    whole = small.tables("state")
    harm(small, name)
    log = sorted((table(small, name) / "_delta_log").iterdir())
    with pytest.raises(StateError, match=rf"{name} is at version 0, and \w+ was published from version 1: .* muntin doctor --mend FILE"):
        small.run("state", 2, 2)
    with pytest.raises(StateError, match="muntin doctor --mend FILE"):
        read(small.pipeline, "hours", root=small.folder / "state", provisional=True)
    with pytest.raises(StateError, match="muntin doctor --mend FILE"):
        over(small.pipeline, START, START + HOUR, root=small.folder / "state")
    assert sorted((table(small, name) / "_delta_log").iterdir()) == log
    assert same(small.tables("state"), whole), "what is published is right still"
    found = diagnose(small.pipeline, root=small.folder / "state")
    assert any(name in each.place and "has lost commits" in each.problem and "muntin doctor --mend" in each.mend for each in found), found
    repair(small.pipeline, root=small.folder / "state", spark=HERE)
    small.run("state", 2, 2)  # which was refused
    assert diagnose(small.pipeline, root=small.folder / "state", deep=True) == []
    assert same(small.tables("state"), small.tables("clean"))
    small.run("state", 2, 2)
    assert same(small.tables("state"), small.tables("clean"))


@pytest.mark.parametrize("harm", [lose, put_back])
def test_windows_that_went_back_are_not_read(small: Small, harm: Callable[[Small, str], None]) -> None:
    harm(small, "../windows/hours")
    with pytest.raises(
        StateError, match=r"windows/hours has lost commits.* windows of batch 20240101T010000Z were published.* muntin doctor --mend"
    ):
        read(small.pipeline, "hours", root=small.folder / "state")
    rows = pa.table({key: ["a"] for key in small.pipeline.keys} | {"seen": [START + HOUR]})
    with pytest.raises(StateError, match=r"windows/hours has lost commits.* muntin doctor --mend"):
        as_of(small.pipeline, "hours", rows, at="seen", root=small.folder / "state")
    [found] = diagnose(small.pipeline, root=small.folder / "state")
    assert ("windows/hours" in found.place, "muntin doctor --mend" in found.mend) == (True, True)
    repair(small.pipeline, root=small.folder / "state", spark=HERE)
    assert diagnose(small.pipeline, root=small.folder / "state", deep=True) == []
    assert same(small.tables("state"), small.tables("clean"))


def test_a_run_mends_windows_that_went_back(small: Small) -> None:
    lose(small, "../windows/hours")
    small.run("state", 2, 2)
    assert same(small.tables("state"), small.tables("clean"))


def test_two_commits_that_changed_places(small: Small) -> None:
    one, two = sorted((table(small, "reports") / "_delta_log").glob("*.json"))[-2:]
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    with pytest.raises(StateError, match=r"its digest is not that of what it says.* muntin doctor --mend FILE"):
        small.run("state", 2, 2)


@pytest.mark.parametrize("feature", ["fancyNew", "deletionVectors"])
def test_a_feature_of_delta_that_nobody_here_knows_is_no_damage(small: Small, feature: str) -> None:
    hours = table(small, "../windows/hours").resolve()
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": [feature], "writerFeatures": [feature]}
    last = last_commit(hours)
    last.with_name(f"{int(last.stem) + 1:020d}.json").write_text(json.dumps({"protocol": protocol}))
    with pytest.raises(StateError, match=rf"windows/hours has .*{feature}.*Nothing is damaged.*needs a newer Muntin or deltalake"):
        read(small.pipeline, "hours", root=small.folder / "state")
