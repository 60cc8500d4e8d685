"""Quotients of integers and decimals are the doubles nearest to the exact ones."""

import random
from decimal import Decimal, localcontext
from fractions import Fraction

import pyarrow as pa
import pytest

from muntin.engine.reduce.exact import exact_quotients
from tests.case_counts import random_seeds

HUGE = 10**38 - 1


def drawn(dice: random.Random, most: int) -> int:
    """Small numbers, numbers about 2^53, and any."""
    near = [dice.randrange(100), 2**53 + dice.randrange(-2, 3), dice.randrange(10 ** dice.randrange(1, 39))]
    return dice.choice([-1, 1]) * min(dice.choice(near), most)


@pytest.mark.parametrize("scale", [None, 0, 2, 9, 20, 38])
def test_each_is_rounded_once(scale: int | None) -> None:
    dice = random.Random(scale)
    most, unit = (2**63 - 1, 1) if scale is None else (HUGE, 10**scale)
    above = [None if dice.random() < 0.1 else drawn(dice, most) for _ in random_seeds(60_000)]
    below = [dice.choice([0, 1, 2, 3, 7, 10, 2**40 + 1, 2**53 + 1, dice.randrange(10**6)]) for _ in above]
    with localcontext() as context:
        context.prec = 40
        column = pa.array(above, pa.int64()) if scale is None else decimals(above, scale)
    found = exact_quotients(column, pa.array(below, pa.int64())).to_pylist()
    assert found == [None if x is None or y == 0 else float(Fraction(x, unit * y)) for x, y in zip(above, below, strict=True)]


def decimals(above: list[int | None], scale: int) -> pa.Array:
    """Integers as decimals of so many digits behind the point; cut from a longer column, as slices of tables are."""
    values = [None if x is None else Decimal(x).scaleb(-scale) for x in [7, *above]]
    return pa.array(values, pa.decimal128(38, scale)).slice(1)


def test_floats_are_divided_as_doubles() -> None:
    assert exact_quotients(pa.array([1.0, None, 3.0, 0.1]), pa.array([3, 1, 0, 1], pa.int32())).to_pylist() == [1 / 3, None, None, 0.1]
