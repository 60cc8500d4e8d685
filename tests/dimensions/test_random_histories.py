"""Windows of events that look up are windows of events which brought the same, to the last bit, whatever came when."""

from copy import deepcopy
from pathlib import Path

import pytest

from tests.case_counts import random_seeds
from tests.dimensions.worlds import HOURS, may_differ, random_world


@pytest.mark.parametrize("seed", random_seeds(150))
def test_random_histories(tmp_path: Path, seed: int) -> None:
    """Batches come in any order and are replaced, the dimension changes between: the next run reads again what met the changes."""
    rows_of_dimensions(seed, tmp_path)


def rows_of_dimensions(seed: int, folder: Path) -> None:
    """A random history of batches and of a dimension, each run held against the batches that must be read again."""
    world = random_world(folder, seed)
    numbers = list(range(HOURS))
    world.random.shuffle(numbers)
    read = list[int]()
    before = deepcopy(world)
    for number in numbers:
        step = world.random.choice(("run", "run", "change", "replace"))
        if step == "change":
            world.change_dimension()
        elif step == "replace" and read:
            again = world.random.choice(read)
            world.write_batch(again)
            world.run(world.looking_up, again, again + 1)
            before = deepcopy(world)
        surely, perhaps = may_differ(world, before.answer, read)
        found = {*world.run(world.looking_up, number, number + 1)} - {number}
        if "dedupe_within" not in world.dedupe:  # an event that is a duplicate in one batch may count in another
            assert surely - {number} <= found <= perhaps, (surely, found, perhaps)
        read.append(number)
        before = deepcopy(world)
    world.change_dimension()
    world.run(world.looking_up, HOURS - 1, HOURS)
    world.check()


@pytest.mark.parametrize("seed", random_seeds(100))
def test_all_at_once(tmp_path: Path, seed: int) -> None:
    """All batches in one run."""
    world = random_world(tmp_path, seed)
    world.run(world.looking_up, 0, HOURS)
    world.check()
