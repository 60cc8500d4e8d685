"""Wherever a command that forgets stops, the same command ends the work; and a run that comes between does no harm."""

import random
import shutil
from pathlib import Path

import pytest

from muntin import forget
from muntin.extensions.forgetting.remembered import remembered
from tests.case_counts import some
from tests.forgetting.stops import Stop
from tests.forgetting.visits import Visits, drawn, others_are
from tests.storage.crashing import Crash

KEY = {"person": "bob"}


def begun(folder: Path, kind: str) -> Visits:
    visits = Visits(folder, kind)
    for hour in range(3):
        visits.write(hour, drawn(random.Random(hour), hour), bad=["bob", "eve"])
        visits.run(hour)
    return visits


@pytest.mark.parametrize("kind", ["by time", "by row"])
def test_a_command_that_stops_ends_when_it_is_run_again(kind: str, tmp_path: Path) -> None:
    visits, kept = begun(tmp_path, kind), tmp_path / "kept"
    before = visits.tables()
    shutil.copytree(visits.root, kept)
    whole = Stop()
    with whole.watching():
        assert forget(visits.pipeline, [KEY], root=visits.root).done
    others_are(visits.tables(), before, "bob")
    points = [(at, after) for at in range(whole.count) for after in (False, True)]
    assert len(points) > 100
    for number, (at, after) in enumerate(some(points, one_in=40)):
        shutil.rmtree(visits.root)
        shutil.copytree(kept, visits.root)
        with Stop(at, after=after).watching(), pytest.raises(Crash):
            forget(visits.pipeline, [KEY], root=visits.root)
        if number % 3 == 0:
            visits.run(1)
        found = forget(visits.pipeline, [KEY], root=visits.root)
        assert found.done, (at, after, found.left)
        others_are(visits.tables(), before, "bob", totals=number % 3 != 0)
        assert remembered(visits.pipeline, root=visits.root).open == 0
