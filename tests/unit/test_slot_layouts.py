"""Rows of a key and a frame have a slot, and no other row has it, however slots are laid out."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.states import linked
from pipelines.states.dense import Dense
from pipelines.states.layout import Layout
from pipelines.states.linked import Linked

KEYS, FRAMES = 5, 9
BATCHES = st.lists(
    st.lists(st.tuples(st.integers(0, KEYS - 1), st.integers(3, FRAMES + 2)), min_size=1, max_size=9), min_size=1, max_size=6
)
LAYOUTS: dict[str, Callable[[int], Layout]] = {"dense": lambda rows: Dense(3, FRAMES, rows + 99), "linked": Linked}


def arrays(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    key, frame = np.array(rows, np.int64).T
    return np.ascontiguousarray(frame), np.ascontiguousarray(key)


@pytest.mark.parametrize("name", LAYOUTS)
@given(batches=BATCHES, rank=st.permutations(range(KEYS)))
def test_a_slot_for_each_key_and_frame(name: str, batches: list[list[tuple[int, int]]], rank: list[int]) -> None:
    rows = [row for batch in batches for row in batch]
    layout, slots = LAYOUTS[name](len(rows)), list[int]()
    for batch in batches:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(linked, "_LINKS_PER_ROW", 100)
            found = layout.slots(*arrays(batch), KEYS)
        assert found is not None
        slots += found.tolist()
    states = dict(zip(rows, slots, strict=True))
    assert [states[row] for row in rows] == slots
    assert len({*slots}) == len(states)
    counts = np.bincount(slots, minlength=layout.shape[0] * layout.shape[1])
    filled = layout.filled(counts, np.array(rank))
    expected = sorted(states, key=lambda state: (rank[state[0]], state[1]))
    assert list(zip(filled.key.tolist(), filled.frame.tolist(), strict=True)) == expected
    place = dict(zip(filled.place.tolist(), filled.slot.tolist(), strict=True))
    assert [place[at] for at in range(len(expected))] == [states[state] for state in expected]


# frame    0 1 2 3 4 5 ...     later rows first: each row would go back over all states that there are
def test_rows_that_go_far_back_end_soon() -> None:
    rows = 300_000
    layout = Linked(rows)
    backwards, one_key = np.arange(rows)[::-1].copy(), np.zeros(rows, np.int64)
    assert layout.slots(backwards, one_key, 1) is None
    assert layout.outgrown
    assert layout.links <= linked._LINKS_PER_ROW * rows + layout.states


# frame    0 0 1 0 1 2 1 2 3 ...     rows a frame or two late, as sources give them
def test_rows_that_are_somewhat_late_are_found() -> None:
    layout = Linked(30_000)
    frame = np.arange(30_000) // 3 - np.tile([0, 1, 2], 10_000) + 2
    assert layout.slots(frame, np.zeros(30_000, np.int64), 1) is not None
    assert layout.states == len({*frame.tolist()})
