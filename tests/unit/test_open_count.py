"""Open windows counted from frames, against a count of each key by hand; every kind is counted in tests/page/test_every_kind.py."""

import random
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

from muntin import windows
from muntin.jobs.inspect.open_windows import _numbered, _opened, steps_of

HOUR = 3_600_000_000
KINDS = [
    windows.tumbling("2h"),
    windows.sliding("6h", step="2h"),
    windows.cumulating("6h", step="2h"),
    windows.tumbling("1d", timezone="America/New_York"),
    windows.trailing(months=2),
]


def steps(frames: dict[int, list[int]]) -> list[tuple[int, int | None, int]]:
    """Of the states in any order, some of them twice: several batches bring the same frame."""
    states = [(key, frame) for key, of_key in frames.items() for frame in (*of_key, *of_key[::2])]
    random.Random(1).shuffle(states)
    keys, starts = np.array(states, np.int64).reshape(-1, 2).T
    return steps_of(keys, starts)


# frames    0    10        30
# windows [-10, 10)   [0, 20)   [10, 30)   [20, 40)   [30, 50)
@pytest.mark.parametrize(("floor", "opened"), [(0, 5), (10, 4), (30, 2), (50, 0)])
def test_the_drawing(floor: int, opened: int) -> None:
    window = windows.sliding(timedelta(microseconds=20), step=timedelta(microseconds=10))
    assert _opened(window, floor, steps({0: [0, 10, 30]})) == opened


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_each_window_of_a_key_counts_once(kind: object) -> None:
    chance = random.Random(7)
    for _ in range(50):
        frames = {key: sorted({2 * HOUR * chance.randrange(400) for _ in range(chance.randrange(6))}) for key in range(4)}
        floor = 2 * HOUR * chance.randrange(400)
        spans = {(key, *span) for key, of_key in frames.items() for frame in of_key for span in kind.windows_for(frame)}
        assert _opened(kind, floor, steps(frames)) == sum(end > floor for _, _, end in spans)


def test_keys_are_numbered_by_all_their_columns() -> None:
    columns = [pa.chunked_array([["a", None, "a"], [None, "b"]]), pa.chunked_array([[1, None, 1, None, 1]])]
    first, second, third, fourth, fifth = _numbered(columns, 5).tolist()
    assert first == third
    assert second == fourth
    assert len({first, second, fifth}) == 3
    assert _numbered([], 2).tolist() == [0, 0]


def test_very_many_windows_are_not_counted() -> None:
    window = windows.sliding("30d", step="30s")
    assert _opened(window, 0, [(30_000_000 * number, None, 1) for number in range(20)]) is None
