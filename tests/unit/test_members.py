"""What belongs to each window, item by item: ranges, repeated rows, late rows, and pieces of any size."""

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from muntin.engine.assignment import Assignment
from muntin.engine.lists.members import members, pieces, sizes_of
from muntin.engine.ordered_lists import at_places, counted, put_together, united
from muntin.engine.reduce.fold import Algebra, combinations
from muntin.errors import SourceError


def ints(values: Any) -> Any:
    return np.array(values, np.int64)


# rows        0  1  2  3  4
# order       [0  2][2  3  4]       1 is late, 2 stands twice
# window 0    |-----|               0 2, and 1 late
# window 1       |-------|          2 2 3 over two blocks
# window 2    nothing, and 1 late
def drawn() -> Assignment:
    return Assignment(
        order=ints([0, 2, 2, 3, 4]),
        block=ints([0, 0, 1, 1, 1]),
        group=ints([0, 0, 0]),
        start=ints([0, 1, 2]),
        end=ints([2, 4, 3]),
        lo=ints([0, 1, 4]),
        mid=ints([0, 2, 4]),
        hi=ints([2, 4, 4]),
        late_window=ints([0, 2]),
        late_row=ints([1, 1]),
        missed=ints([0] * 5),
    )


def test_late_rows_stand_where_they_arrived() -> None:
    window, row = members(drawn())
    assert list(zip(window.tolist(), row.tolist(), strict=True)) == [(0, 0), (0, 1), (0, 2), (1, 2), (1, 2), (1, 3), (2, 1)]


def test_some_windows_only() -> None:
    window, row = members(drawn(), 1, 2)
    assert (window.tolist(), row.tolist()) == ([1, 1, 1], [2, 2, 3])


@pytest.mark.parametrize("most", [1, 3, 100])
def test_pieces_are_the_whole(most: int) -> None:
    lengths = ints([2, 1, 0, 3, 1])
    found = list(pieces(drawn(), lengths, most))
    window, item = (np.concatenate(column).tolist() for column in zip(*found, strict=True))
    assert (window, item) == ([0, 0, 0, 1, 1, 1, 2], [0, 1, 2, 3, 4, 5, 2])
    assert sizes_of(drawn(), lengths).tolist() == [3, 3, 1]


def random_windows(dice: random.Random) -> tuple[Assignment, list[list[int]]]:
    """Windows over some rows, the end of a block and the beginning of the next, with late rows; and the rows of each."""
    rows = dice.randint(1, 12)
    block = np.cumsum([dice.random() < 0.3 for _ in range(rows)])
    borders = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), rows]
    bounds, late = [], []
    for number in range(dice.randint(1, 6)):
        at = dice.randint(1, len(borders) - 1)
        mid = borders[at]
        lo = dice.randint(borders[at - 1], mid)
        hi = dice.randint(mid, borders[at + 1] if at + 1 < len(borders) else mid)
        bounds.append((lo, mid, hi))
        late += [(number, row) for row in range(rows) if not lo <= row < hi and dice.random() < 0.2]
    lo, mid, hi = ints(bounds).T
    pairs = ints(late).reshape(-1, 2).T
    zeros = ints([0] * len(lo))
    windows = Assignment(ints(range(rows)), block, zeros, lo, hi, lo, mid, hi, pairs[0], pairs[1], ints([0] * rows))
    return windows, [
        [*range(low, high), *(row for window, row in late if window == number)] for number, (low, _, high) in enumerate(bounds)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_random_windows(seed: int) -> None:
    dice = random.Random(seed)
    windows, held = random_windows(dice)
    lists = [[dice.randint(0, 4) for _ in range(dice.randint(0, 3))] for _ in range(len(windows.order))]
    column = pa.array(lists, pa.list_(pa.int64()))
    ones = pa.array([[1] * len(each) for each in lists], pa.list_(pa.int64()))
    wanted = [sorted(value for row in rows for value in lists[row]) for rows in held]
    (together,) = put_together([column], windows, by=[(column.flatten(), False)])
    assert together.to_pylist() == wanted
    values, counts = counted(column, ones, windows)
    assert values.to_pylist() == [sorted(set(each)) for each in wanted]
    assert counts.to_pylist() == [[each.count(value) for value in sorted(set(each))] for each in wanted]


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_a_limit_keeps_the_first_items_or_the_last_ones(seed: int, *, falling: bool) -> None:
    dice = random.Random(seed)
    windows, held = random_windows(dice)
    lists = [[dice.randint(0, 4) for _ in range(dice.randint(0, 3))] for _ in range(len(windows.order))]
    named = [[10 * row + place for place in range(len(each))] for row, each in enumerate(lists)]
    column, labels = (pa.array(each, pa.list_(pa.int64())) for each in (lists, named))
    limit = dice.randint(1, 4)
    items = [[pair for row in sorted(rows) for pair in zip(lists[row], named[row], strict=True)] for rows in held]
    wanted = [sorted(each, key=lambda pair: -pair[0] if falling else pair[0]) for each in items]
    for newest in (False, True):
        found = put_together([column, labels], windows, by=[(column.flatten(), falling)], limit=limit, newest=newest)
        pairs = [list(zip(*each, strict=True)) for each in zip(*(column.to_pylist() for column in found), strict=True)]
        assert pairs == [each[-limit:] if newest else each[:limit] for each in wanted]
    assert united(column, windows).to_pylist() == [sorted({value for value, _ in each}) for each in items]


@pytest.mark.parametrize("deducts", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_objects_are_combined_from_left_to_right(seed: int, *, deducts: bool) -> None:
    windows, held = random_windows(random.Random(seed))
    letters = [bytes([97 + row]) for row in range(len(windows.order))]

    def without(whole: bytes, head: bytes) -> bytes:
        assert whole.startswith(head)
        return whole[len(head) :]

    algebra = Algebra(bytes, bytes, lambda one, other: one + other, without if deducts else None)
    found = combinations(pa.array(letters, pa.binary()), windows, algebra, b"none")
    assert found.to_pylist() == [b"".join(letters[row] for row in rows) or b"none" for rows in held]


def test_objects_may_be_changed_by_their_combine() -> None:
    def grown(one: list[int], other: list[int]) -> list[int]:
        one += other
        return one

    algebra = Algebra(list, bytes, grown)
    found = combinations(pa.array([b"a", b"b", b"c", b"d", b"e"], pa.binary()), drawn(), algebra, b"")
    assert found.to_pylist() == [b"acb", b"ccd", b"b"]


def test_more_text_than_a_column_takes_is_refused_in_words() -> None:
    megabyte = pa.array(["x" * 1_000_000])
    with pytest.raises(SourceError, match=r"2148000000 bytes of text.*limit=100"):
        at_places(megabyte, np.zeros(2_148, np.int64))
