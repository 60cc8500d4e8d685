"""With which batches the ids of a batch are compared: never too few; and a name that changes with each of them."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.timeline.batches import Batches, compared, decided, first_in_reach

WITHIN = 10


@st.composite
def batches(draw: st.DrawFn) -> Batches:
    """Adjacent batches and holes; event times near the batch, far from it, or none."""
    rows, start = [], 0
    for _ in range(draw(st.integers(1, 8))):
        start += draw(st.sampled_from([0, 0, 100]))
        times = sorted(draw(st.lists(st.integers(start - 150, start + 120), max_size=2)))
        low, high = (times[0], times[-1]) if times else (AFTER_ALL, BEFORE_ALL)
        rows.append((start, start + 100, draw(st.integers(1, 2**60)), high, low, high, len(times)))
        start += 100
    return Batches.of(rows)


def naively(found: Batches, at: int) -> set[int]:
    """The batches with an event time within reach of those of one batch."""
    near = set[int]()
    for before in reversed(range(at)):
        if found.end_us[before] != found.start_us[before + 1]:
            break
        if found.low_us[before] <= found.high_us[at] + WITHIN and found.high_us[before] >= found.low_us[at] - WITHIN:
            near.add(before)
    return near


@given(batches())
def test_reach_holds_all_batches_that_matter_and_no_other_run(found: Batches) -> None:
    first = first_in_reach(found, WITHIN)
    for at in range(len(found)):
        assert naively(found, at) <= set(range(first[at], at))
        assert all(found.end_us[before] == found.start_us[before + 1] for before in range(first[at], at))


@given(batches(), st.data())
def test_a_name_changes_with_what_it_depends_on_and_with_nothing_else(found: Batches, data: st.DataObject) -> None:
    first = first_in_reach(found, WITHIN)
    before, one = compared(found, first), data.draw(st.integers(0, len(found) - 1))
    version = found.version.copy()
    version[one] ^= np.uint64(2**61)
    after = compared(replace(found, version=version), first)
    assert np.flatnonzero(before != after).tolist() == [at for at in range(len(found)) if first[at] <= one <= at]


# ids       a   b         the same duplicates in another order have the same name; another version, or another duplicate, has another
def test_a_decision_has_a_name() -> None:
    high, low = np.array([1, 2]), np.array([3, 4])
    assert decided(7, high, low) == decided(7, high[::-1], low[::-1])
    assert len({decided(7, high, low), decided(8, high, low), decided(7, high[:1], low[:1]), decided(7, low, high)}) == 4


def test_a_hole_parts_batches() -> None:
    found = Batches.of([(0, 10, 1, 5, 0, 5, 1), (20, 30, 2, 5, 0, 5, 1)])
    assert first_in_reach(found, WITHIN).tolist() == [0, 1]
