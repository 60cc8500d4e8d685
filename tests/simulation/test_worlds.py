"""Worlds in memory: the jobs decide, the disk and the rows are simulated. `make soak ARGS="--part worlds"` lives many more."""

import logging
import time
from collections.abc import Iterator

import pytest

from tests.case_counts import cases
from tests.simulation.chance import Life
from tests.simulation.mutations import MUTATIONS
from tests.simulation.seams import simulated

WORLDS = cases(3_000)
CHUNK = 50
ENOUGH = 600
"""So many worlds find any of the planted faults."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """What worlds log is no news."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def wrong_worlds(seeds: range) -> Iterator[tuple[int, list[str], list[str]]]:
    """The worlds that broke a law: seed, what happened, what was wrong."""
    for seed in seeds:
        life = Life(seed)
        if wrong := life.live():
            yield seed, life.world.told, wrong


@pytest.mark.parametrize("first", range(0, WORLDS, CHUNK))
def test_worlds_obey_their_laws(first: int) -> None:
    begun, seeds = time.process_time(), range(first, min(first + CHUNK, WORLDS))
    with simulated():
        assert [*wrong_worlds(seeds)] == []
    print(f"{len(seeds) * 60 / (time.process_time() - begun):.0f} worlds a minute")


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_planted_fault_is_found(name: str) -> None:
    begun = time.monotonic()
    with simulated() as patch:
        MUTATIONS[name](patch)
        seed, _, wrong = next(wrong_worlds(range(ENOUGH)))
    print(f"{name}: world {seed} after {time.monotonic() - begun:.1f} s: {wrong[0]}")


def test_a_world_is_the_same_every_time() -> None:
    def lived(seed: int) -> tuple[list[str], dict[str, bytes]]:
        life = Life(seed)
        life.live()
        return life.world.told, {path: file.content for path, file in life.world.disk.files.items()}

    with simulated():
        for seed in range(5):
            assert lived(seed) == lived(seed)
