"""Two ways to say late: by closing batches, and in one line of the design."""

import random
from collections import Counter

import pytest

from muntin.testing.oracle import Agg, Batch, Sliding, judge

SIZE, STEP = 12, 4


def batches(dice: random.Random) -> list[Batch]:
    """Eight intervals of ten, events up to thirty late and ten early."""
    return [
        Batch(start, start + 10, [{"t": start + dice.randint(-30, 19)} for _ in range(dice.randint(0, 6))]) for start in range(0, 80, 10)
    ]


# An event at t in batch b counts in the windows whose end lies in ( max(t, W(b-1) - grace), t + size ].
@pytest.mark.parametrize("policy", ["interval", "events"])
@pytest.mark.parametrize("seed", range(200))
def test_an_event_counts_where_the_closed_form_says(policy: str, seed: int) -> None:
    dice = random.Random(seed)
    found, grace = batches(dice), dice.choice([0, 1, 5, 10])
    said = judge(Sliding(SIZE, STEP, grace), found, {"n": Agg("count")}, watermark=policy)
    before = [float("-inf"), *said.watermarks]
    ends = range(-STEP * 20, 200, STEP)
    counted = Counter(
        end
        for number, batch in enumerate(found)
        for row in batch.rows
        for end in ends
        if max(row["t"], before[number] - grace) < end <= row["t"] + SIZE
    )
    assert {row["window_end"]: row["n"] for row in said.published + said.still_open} == counted
