"""The short form of `make soak`."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from muntin.jobs.housekeeping import compact
from muntin.jobs.published import ledger_segments
from muntin.timeline import ledger
from tests.case_counts import random_seeds
from tests.soak.world import SETS, World


@pytest.mark.parametrize("definition", SETS)
@pytest.mark.parametrize("seed", random_seeds(6))
def test_a_world_equals_its_clean_run(
    tmp_path: Path, seed: int, definition: Callable[[Path], Mapping[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (compact, ledger_segments):
        monkeypatch.setattr(module, "MANY", 3)
    monkeypatch.setattr(ledger, "RECENT", 3)
    world = World(tmp_path, random.Random(seed), definition)
    assert "next" in {*world.live(20)}
    world.compact()
    assert not world.wrong()
