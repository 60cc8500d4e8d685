"""Sums by deduction: exact to 38 digits, and an error beyond; anchored blocks: the same bits whatever is loaded beside."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from muntin.definition.instants import BEFORE_ALL
from muntin.engine.event_time.grid import sliding_ranges
from muntin.engine.reduce.exact import exact_sums
from muntin.engine.reduce.fold import folds
from muntin.engine.reduce.select import sort_keys, winners
from muntin.errors import SourceError
from muntin.states.frames import Frames
from tests.properties.laws.states import assigned

MOST = 10**38 - 1
WIDE = pa.decimal128(38, 0)


def total(kind: pa.DataType, *values: int) -> int:
    return int(
        exact_sums(pa.array([Decimal(v) if kind == WIDE else v for v in values], kind), assigned(len(values), [(0, 0, len(values))]))[
            0
        ].as_py()
    )


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int64(), [2**63 - 1]),
        (pa.int64(), [-(2**63)]),
        (pa.int64(), [2**63 - 1, 1, -1]),
        (pa.int64(), [2**63 - 1, 2**63 - 1, -(2**63), -(2**63)]),
        (WIDE, [MOST]),
        (WIDE, [-MOST]),
        (WIDE, [MOST, -MOST, MOST]),
        (WIDE, [-MOST + 1, -1]),
        (WIDE, [10**20, -(10**19), 2**64]),
    ],
)
def test_what_fits_is_exact(kind: pa.DataType, values: list[int]) -> None:
    assert total(kind, *values) == sum(values)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int64(), [2**63 - 1, 1]),
        (pa.int64(), [-(2**63), -1]),
        (WIDE, [MOST, 1]),
        (WIDE, [-MOST, -1]),
        (WIDE, [-MOST, -6]),
        (WIDE, [MOST, MOST]),
        (WIDE, [MOST] * 3),
        (WIDE, [MOST] * 4),
        (WIDE, [-MOST] * 3),
    ],
)
def test_what_does_not_fit_is_an_error(kind: pa.DataType, values: list[int]) -> None:
    with pytest.raises(SourceError, match="does not fit"):
        total(kind, *values)


def test_windows_do_not_hear_of_their_neighbours() -> None:
    column = pa.array([MOST, 5, -3, MOST, 7], pa.int64() if MOST < 2**63 else WIDE)
    assert [int(v.as_py()) for v in exact_sums(column, assigned(5, [(1, 1, 3), (2, 2, 3), (4, 4, 5)]))] == [2, -3, 7]


def add(x, i, y, j, out, k):
    out[k, 0] = x[i, 0] + y[j, 0]


# frames 0 1 2 3 ...; windows of 5 by 1; a slice that begins anywhere gives the windows it holds whole the same bits
@pytest.mark.parametrize("first", [1, 3, 5, 7, 12, 23])
def test_a_slice_gives_the_same_bits(first: int) -> None:
    values = np.random.default_rng(first).normal(1e6, 1e3, (60, 1))
    whole, part = sums(values, 0), sums(values, first)
    inside = {end: value for end, value in whole.items() if end - 5 >= first}
    assert inside
    assert {end: part[end].hex() for end in inside} == {end: value.hex() for end, value in inside.items()}


def sums(values: np.ndarray, first: int) -> dict[int, float]:
    start = np.arange(first, len(values))
    zeros = np.zeros(len(start), np.int64)
    frames = Frames(zeros, start, zeros, start, start, 1)
    found = sliding_ranges(frames, start + 1, 5, 1, np.full(len(start), BEFORE_ALL))
    return dict(zip(found.end.tolist(), folds(values[first:], found, add)[:, 0].tolist(), strict=True))


NAN = float("nan")
CHOICES = [
    (pa.array([1.0, NAN, -1.0]), 2, 1),
    (pa.array([NAN, None, 2.0]), 2, 0),
    (pa.array([None, None], pa.float64()), -1, -1),
    (pa.array([-1e308, -1.5, -1e-300, 0.0]), 0, 3),
    (pa.array(["ü", "z", "a", None]), 2, 0),
    (pa.array([Decimal("-1.5"), Decimal("1.5"), None]), 0, 1),
    (pa.array([-(2**63), 2**63 - 1, 0]), 0, 1),
    (pa.array([10, 5, None, 7], pa.date32()), 1, 0),
    (pa.array([True, False, None]), 1, 0),
    (pa.array([5, -5], pa.timestamp("us", tz="UTC")), 1, 0),
]


@pytest.mark.parametrize(("values", "least", "greatest"), CHOICES, ids=lambda value: str(getattr(value, "type", "")))
def test_the_least_and_the_greatest(values: pa.Array, least: int, greatest: int) -> None:
    whole = assigned(len(values), [(0, 0, len(values))])
    assert winners(values, whole, least=True, newest=False).tolist() == [least]
    assert winners(values, whole, least=False, newest=False).tolist() == [greatest]


def test_of_equal_ones_the_first_or_the_last() -> None:
    equal, whole = pa.array([3, 3, 3]), assigned(3, [(0, 1, 3)])
    assert [winners(equal, whole, least=least, newest=newest)[0] for least in (True, False) for newest in (False, True)] == [0, 2, 0, 2]


def test_keys_sort_as_floats_do() -> None:
    values = [-np.inf, -1e300, -1.0, -1e-310, -0.0, 0.0, 1e-310, 1.0, 1e300, np.inf, NAN]
    assert sort_keys(pa.array(values)).tolist() == sorted(sort_keys(pa.array(values)).tolist())
