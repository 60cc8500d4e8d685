"""Holes, open windows, and a plan that does nothing."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin import plan
from tests.catalogue.kinds import JUDGED
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.scenario_on_disk import Bench, bench
from tests.end_to_end.judge.scenarios import scenario
from tests.end_to_end.judge.verdict import differences, truth
from tests.storage.three_batches import HERE

FEW = {name: JUDGED[name] for name in ("late_ones", "quieter", "day")}


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    """Four windows' worth of a scenario."""
    return bench(replace(scenario(11), windows=FEW), tmp_path, HERE)


def agrees(made: Bench, count: int) -> bool:
    """Published is what the first `count` batches make, nothing else."""
    case = replace(made.case, batches=made.case.batches[:count])
    root = made.folder / "state"
    found = {name: face.published(made.pipeline, name, root, case.batches) for name in FEW}
    return all(differences(case, found[name], truth(case, name).published) == [] for name in FEW)


# batches  0 1 . 3 4 .     2 fills the hole, 5 is not there yet
def test_a_batch_behind_a_hole_waits(made: Bench) -> None:
    assert not made.run("state", 0, 1).waiting_for
    waiting = made.run("state", 3, 4).waiting_for
    hole = made.case.batches[2]
    assert [bounds(interval) for interval in waiting] == [(hole.start, hole.end)]
    assert agrees(made, 2)
    assert not made.run("state", 2, 2).waiting_for
    assert agrees(made, 5)


def bounds(interval: Any) -> tuple[int, int]:
    """An interval as a pair or as an object with two ends."""
    start, end = interval if isinstance(interval, tuple) else (interval.start, interval.end)
    return (start, end) if isinstance(start, int) else (face.micros(start), face.micros(end))


def test_open_windows_are_there_on_request(made: Bench) -> None:
    made.run("state")
    for name in FEW:
        every = face.published(made.pipeline, name, made.folder / "state", made.case.batches, provisional=True)
        said = truth(made.case, name)
        assert differences(made.case, [row for row in every if row["provisional"]], said.still_open) == []
        assert differences(made.case, [row for row in every if not row["provisional"]], said.published) == []


def test_a_plan_does_nothing(made: Bench) -> None:
    batches, root = made.case.batches, made.folder / "planned"
    at = {"start": face.instant(batches[0].start), "end": face.instant(batches[-1].end)}
    assert plan(made.pipeline, root=str(root), **at)
    assert not root.exists()
