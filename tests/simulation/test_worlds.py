"""Worlds in memory: the jobs decide, the disk and the rows are simulated. `make soak ARGS="--part worlds"` lives many more."""

import logging
import time
from collections.abc import Iterator

import pytest

from tests.case_counts import cases, long, random_seeds, some
from tests.simulation.actors import FAULTS
from tests.simulation.chance import WEIGHED, Life
from tests.simulation.many import Met, in_processes, wrong_worlds
from tests.simulation.mutations import MUTATIONS
from tests.simulation.seams import simulated

WORLDS = cases(60_000)
RARE = 4
"""The weight of steps that a share of the worlds may do without."""
VERBS = ("snapshot", "commit", "describe", "promote", "discard")
ACTORS = ("run", "accumulate", "finalize", "validate", "publish", "rewrite", "compact", "vacuum", "read")
MORE = 20
"""So many times the worlds are lived, until each thing was met."""
ENOUGH = 600
"""So many lives find any of the planted faults."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """What worlds log is no news."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def met() -> Met:
    """What so many worlds met; where something is missing, of more worlds: what is rare misses a few hundred by chance alone."""
    begun, first = time.monotonic(), random_seeds(10_000).start
    found = in_processes(WORLDS, first)
    while not_met(found) and not found.wrong and found.worlds < MORE * WORLDS:
        found.add(in_processes(WORLDS, first + 2 * found.lives))
    print(f"{found.worlds} worlds of {found.lives} lives in {time.monotonic() - begun:.0f} s")
    return found


def not_met(met: Met) -> list[str]:
    """Of steps, kinds of actors, verbs and faults, what never came; of a share of the worlds no rare step is asked for."""
    steps = [f"step {step.__name__}" for step, weight in WEIGHED.items() if weight > RARE or long()]
    every = [*steps, *(f"verb {verb}" for verb in VERBS), *(f"actor {actor}" for actor in ACTORS), *(f"fault {kind}" for kind in FAULTS)]
    return [what for what in every if not met.often[what]]


def test_worlds_obey_their_laws(met: Met) -> None:
    assert met.wrong == []
    assert met.worlds >= WORLDS


def test_worlds_meet_all_that_may_happen(met: Met) -> None:
    assert not_met(met) == []


@pytest.mark.parametrize("name", some(MUTATIONS))
def test_a_planted_fault_is_found(name: str) -> None:
    begun = time.monotonic()
    with simulated() as patch:
        MUTATIONS[name](patch)
        seed, _, wrong = next(wrong_worlds(range(ENOUGH)))
    print(f"{name}: life {seed} after {time.monotonic() - begun:.1f} s: {wrong[0]}")


def test_a_world_is_the_same_every_time() -> None:
    def lived(seed: int) -> tuple[list[str], int, dict[str, bytes]]:
        life = Life(seed)
        life.live()
        return life.world.told, life.worlds, {path: file.content for path, file in life.world.disk.files.items()}

    with simulated():
        for seed in range(5):
            assert lived(seed) == lived(seed)
