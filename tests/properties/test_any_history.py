"""Whatever happened on the way, published windows equal a clean run's, to the last bit, from only what reconcile asks for.

Batches come in any order, alone or several at once, at either end, behind holes; they are replaced, thinned out, emptied.
`MUNTIN_CORE=30000` runs more histories.
"""

import random
import time
from collections.abc import Iterator

import pytest

from tests.case_counts import random_seeds
from tests.catalogue.kinds import DRAWS
from tests.catalogue.random_times import LENGTH, MINUTE
from tests.properties.naive_lift import Rows
from tests.properties.random_cases import Case, case, case_of
from tests.properties.random_histories import Desk
from tests.properties.random_rows import rows

HISTORIES = random_seeds(400)
OF_EACH_KIND = random_seeds(50)
CHUNK = 100
STEPS = 7


def steps(given: Case, dice: random.Random) -> Iterator[list[tuple[int, Rows]]]:
    """What is accumulated before each finalize; in the end every batch has been there."""
    count = len(given.batches)
    for _ in range(STEPS):
        yield [(at, other(given, dice, at)) for at in dice.sample(range(count), k=dice.choice([1, 1, 1, 2, min(3, count)]))]
    yield list(enumerate(batch.rows for batch in given.batches))


def other(given: Case, dice: random.Random, at: int) -> Rows:
    """What a batch says this time: itself, something else, all but one row, one row more, nothing."""
    own = given.batches[at].rows
    unit = MINUTE * (given.batches[at].end - given.batches[at].start) // LENGTH
    fresh = rows(dice, given.batches[at].start, unit)
    cut = dice.randrange(len(own) + 1)
    return dice.choice([own, own, fresh, [*own[:cut], *own[cut + 1 :]], [*own, *fresh[:1]], []])


def first_mistake(given: Case, desk: Desk | None = None) -> list[str]:
    """A random history until it goes wrong; nothing if it does not."""
    dice = random.Random(given.seed)
    desk = desk or Desk(given)
    for at, step in enumerate(steps(given, dice)):
        asked = [desk.accumulate(number, found) for number, found in step]
        work = desk.finalize(asked)
        if said := desk.wrong():
            return [f"step {at}: {[(number, len(found)) for number, found in step]} recomputed {work}", *said]
        assert not desk.finalize(asked), "a second finalize finds nothing to do"
    return []


@pytest.mark.parametrize("chunk", range(0, len(HISTORIES), CHUNK))
def test_every_history_equals_a_clean_run(chunk: int) -> None:
    begun = time.process_time()
    seeds = HISTORIES[chunk : chunk + CHUNK]
    wrong = {seed: said for seed in seeds if (said := first_mistake(case(seed)))}
    print(f"{CHUNK * (STEPS + 1) * 60 / (time.process_time() - begun):.0f} finalizes a minute")
    assert wrong == {}


@pytest.mark.parametrize("draw", DRAWS)
def test_every_history_of_each_kind_equals_a_clean_run(draw: str) -> None:
    wrong = {seed: said for seed in OF_EACH_KIND if (said := first_mistake(case_of(draw, seed)))}
    assert wrong == {}
