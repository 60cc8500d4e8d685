"""Worlds on a real disk; `make soak ARGS="--part real"` lives many more."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.case_counts import random_seeds
from tests.simulation.chance import Life
from tests.simulation.real_world import RealWorld, small_and_quick


@pytest.mark.parametrize("seed", random_seeds(40))
def test_a_world_on_disk_equals_a_clean_run(tmp_path: Path, seed: int) -> None:
    logging.disable(logging.CRITICAL)
    make: Any = partial(RealWorld, tmp_path)
    try:
        with small_and_quick():
            life = Life(seed, make)
            assert life.live() == [], life.world.told
    finally:
        logging.disable(logging.NOTSET)
