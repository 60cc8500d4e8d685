"""Rows of a key and a frame have a slot, and no other row has it, however slots are laid out; of a run likewise."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.definition.kinds import Cycle
from muntin.states import slot_tables
from muntin.states.slot_tables import Dense, Layout, Linked

KEYS, WIDTH, REACH = 5, 4, 4
FOURS = Cycle(WIDTH, (1,))
ROW = st.tuples(st.integers(0, KEYS - 1), st.integers(1, 60))
BATCHES = st.lists(st.lists(ROW, min_size=1, max_size=9), min_size=1, max_size=6)
LAYOUTS: dict[str, Callable[[int], Layout]] = {
    "dense": lambda rows: Dense(FOURS, 0, 20, rows + 99),
    "linked": lambda rows: Linked(FOURS, rows),
}


def arrays(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    key, time = np.array(rows, np.int64).T
    return np.ascontiguousarray(time), np.ascontiguousarray(key)


@contextmanager
def any_order() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slot_tables, "_LINKS_PER_ROW", 100)
        yield


@pytest.mark.parametrize("name", LAYOUTS)
@given(batches=BATCHES, rank=st.permutations(range(KEYS)))
def test_a_slot_for_each_key_and_frame(name: str, batches: list[list[tuple[int, int]]], rank: list[int]) -> None:
    rows = [(key, (time - 1) // WIDTH * WIDTH + 1) for batch in batches for key, time in batch]
    layout, slots = LAYOUTS[name](len(rows)), list[int]()
    with any_order():
        for batch in batches:
            found = layout.slots(*arrays(batch), KEYS)
            assert found is not None
            slots += found.tolist()
    states = dict(zip(rows, slots, strict=True))
    assert [states[row] for row in rows] == slots
    assert len({*slots}) == len(states)
    check_filled(layout, states, slots, rank)


def check_filled(layout: Layout, states: dict[tuple[int, int], int], slots: list[int], rank: list[int]) -> None:
    """All states, sorted. `states`: key and frame -> slot."""
    counts = np.bincount(slots, minlength=layout.shape[0] * layout.shape[1])
    filled = layout.filled(counts, np.array(rank))
    expected = sorted(states, key=lambda state: (rank[state[0]], state[1]))
    assert list(zip(filled.key.tolist(), filled.frame.tolist(), strict=True)) == expected
    slot_at = dict(zip(filled.place.tolist(), filled.slot.tolist(), strict=True))
    assert [slot_at[place] for place in range(len(expected))] == [states[state] for state in expected]


def runs_of(rows: list[tuple[int, int]]) -> dict[tuple[int, int], list[int]]:
    """Key and first time of a run -> its times: the naive oracle."""
    found = dict[tuple[int, int], list[int]]()
    for key, time in sorted(rows):
        last = max((run for run in found if run[0] == key), default=None)
        if last and time - found[last][-1] <= REACH:
            found[last].append(time)
        else:
            found[key, time] = [time]
    return found


# reach 4    1 - - 4 - - - - 9 -      two runs, for 5 is more than 4; a row at 6, if it comes last, is near both, and put to the earlier
@given(batches=BATCHES, rank=st.permutations(range(KEYS)))
def test_states_are_parts_of_runs(batches: list[list[tuple[int, int]]], rank: list[int]) -> None:
    rows = [row for batch in batches for row in batch]
    layout, slots = Linked(FOURS, len(rows), REACH), list[int]()
    with any_order():
        for batch in batches:
            found = layout.slots(*arrays(batch), KEYS)
            assert found is not None
            slots += found.tolist()
    ends = {slot: [row for of, row in sorted(zip(slots, rows, strict=True)) if of == slot] for slot in slots}
    assert all(len({key for key, _ in of_slot}) == 1 for of_slot in ends.values())
    parts = sorted((of_slot[0], of_slot[-1]) for of_slot in ends.values())
    assert all(one[1] < other[0] for one, other in pairwise(parts)), "states do not overlap"
    apart = [
        part for before, part in pairwise([None, *parts]) if not before or before[1][0] != part[0][0] or part[0][1] - before[1][1] > REACH
    ]
    assert {first for first, _ in apart} == runs_of(rows).keys()
    check_filled(layout, {(key, (first - 1) // WIDTH * WIDTH + 1): slot for slot, ((key, first), *_) in ends.items()}, slots, rank)


def test_rows_by_time_never_join_two_runs() -> None:
    layout, time = Linked(FOURS, 9_000, REACH), np.cumsum(np.arange(9_000) % 9)
    slot = layout.slots(time, np.zeros(9_000, np.int64), 1)
    assert slot is not None
    assert np.array_equal(slot, np.cumsum(np.diff(time, prepend=0) > REACH))


# time    9 8 7 6 5 4 ...     later rows first: each row would go back over all states that there are
def test_rows_that_go_far_back_end_soon() -> None:
    rows = 300_000
    layout = Linked(Cycle(1, (0,)), rows)
    backwards, one_key = np.arange(rows)[::-1].copy(), np.zeros(rows, np.int64)
    assert layout.slots(backwards, one_key, 1) is None
    assert layout.outgrown
    assert layout.links <= slot_tables._LINKS_PER_ROW * rows + layout.states


# time    0 0 1 0 1 2 1 2 3 ...     rows somewhat late, as sources give them
def test_rows_that_are_somewhat_late_are_found() -> None:
    layout = Linked(Cycle(1, (0,)), 30_000)
    time = np.arange(30_000) // 3 - np.tile([0, 1, 2], 10_000) + 2
    assert layout.slots(time, np.zeros(30_000, np.int64), 1) is not None
    assert layout.states == len({*time.tolist()})


# a state for each row: of 4,000 rows, a quarter came
def test_too_many_states_are_foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_tables, "MOST_STATES", 3_000)
    monkeypatch.setattr(slot_tables, "_TELLING", 1_000)
    layout, key = Linked(Cycle(1, (0,)), 4_000), np.zeros(500, np.int64)
    assert layout.slots(np.arange(500), key, 1) is not None
    assert layout.slots(np.arange(500, 1_000), key, 1) is None
    assert layout.outgrown
    assert layout.expected == 4_000


# 500 keys, all of which are new at first: no more states come than there are keys
def test_first_rows_tell_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_tables, "MOST_STATES", 3_000)
    monkeypatch.setattr(slot_tables, "_TELLING", 1_000)
    layout, key = Linked(Cycle(10_000, (0,)), 4_000), np.arange(500)
    for begin in range(0, 4_000, 500):
        assert layout.slots(np.arange(begin, begin + 500), key, 500) is not None
    assert layout.states == 500


# 2**20 frames and a key: 64 keys at once would be 64 million slots
def test_few_keys_of_many_frames_have_no_more_slots_than_rows() -> None:
    frames, rows = 2**20, 2**20 + 2**18
    layout = Dense(Cycle(1, (0,)), 0, frames, rows)
    assert layout.slots(np.arange(100), np.zeros(100, np.int64), 1) is not None
    assert layout.shape[0] * layout.shape[1] <= rows
