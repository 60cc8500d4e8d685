"""The search for the last window that was known at an instant, against a loop over all windows of the key."""

import random

import numpy as np
import pytest

from muntin.definition.instants import BEFORE_ALL
from muntin.engine.versions import last_row_at, settled
from muntin.timeline.closing import Closing, Publications, last_before
from tests.case_counts import cases, random_seeds


@pytest.mark.parametrize("seed", range(cases(40_000) // 100 + 1))
def test_the_last_row_of_a_group_that_was_known(seed: int) -> None:
    """
    window     0    1    2
    known     10   40   25        at 30: window 2, though window 1 was not known
    """
    for dice in (random.Random(seed * 100 + number) for number in range(100)):
        sizes = [dice.randrange(5) for _ in range(dice.randrange(1, 5))]
        begins = np.cumsum([0, *sizes])
        known = np.array([dice.randrange(10) for _ in range(begins[-1])], np.int64)
        asked = [(dice.randrange(-1, len(sizes)), dice.randrange(-1, 11)) for _ in range(20)]
        found = last_row_at(begins, settled(begins, known), *np.array(asked, np.int64).T)
        naive = [
            max((row for row in range(begins[group], begins[group + 1]) if known[row] <= at), default=-1) if group >= 0 else -1
            for group, at in asked
        ]
        assert found.tolist() == naive, (sizes, known, asked)


@pytest.mark.parametrize("seed", random_seeds(2_000))
def test_what_batches_had_closed_at_an_instant(seed: int) -> None:
    dice = random.Random(seed)
    ends = np.cumsum([dice.randrange(1, 10) for _ in range(dice.randrange(1, 6))])
    marks = np.maximum.accumulate([dice.choice([BEFORE_ALL, dice.randrange(-5, 60)]) for _ in ends])
    slack = dice.randrange(4)
    known = Publications(np.append(0, ends[:-1]), ends, Closing(marks, slack), "closed", ends)
    for at in range(-1, int(ends[-1]) + 3):
        had_ended = [mark for mark, end in zip(marks.tolist(), ends.tolist(), strict=True) if end <= at]
        position = last_before(ends, np.array([at]), "closed")
        assert position[0] == len(had_ended) - 1
        closed = known.closed_to(position)[0]
        for window_end in range(-10, 60):
            assert (window_end <= closed) == any(mark >= window_end + slack for mark in had_ended), (at, window_end)
