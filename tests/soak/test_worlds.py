"""The short form of `make soak`."""

import random
from pathlib import Path

import pytest

from muntin.jobs.housekeeping import compact
from muntin.jobs.published import ledger_segments
from muntin.timeline import ledger
from tests.case_counts import cases
from tests.soak.world import World


@pytest.mark.parametrize("seed", range(cases(6)))
def test_a_world_equals_its_clean_run(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (compact, ledger_segments):
        monkeypatch.setattr(module, "MANY", 3)
    monkeypatch.setattr(ledger, "RECENT", 3)
    world = World(tmp_path, random.Random(seed))
    assert "next" in {*world.live(20)}
    world.compact()
    assert not world.wrong()
