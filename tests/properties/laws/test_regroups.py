"""States of some aggregates combine to the same bits in any order and groups: tiers keep combinations of them."""

import random
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from muntin.errors import SourceError
from muntin.laws.states import combined, lifted
from muntin.states.keys import odd_floats
from tests.case_counts import some
from tests.catalogue.aggregates import ROWS, Row
from tests.catalogue.columns import COLUMNS, fixed
from tests.properties.equal_values import bitwise
from tests.properties.laws.test_laws import VALUES

TREES = 4
SOME: dict[str, list[Any]] = {
    "int": [None, 3, -7, 2**40, 3],
    "float": [None, 0.1, 0.2, 0.3, 1e16, -1e16],
    "offset": [None, 1e9 + 0.125, 1e9 - 0.5],
    "absurd": [None, float("inf"), float("-inf"), 1.5, 0.0],
    "decimal": [None, Decimal("3.25"), Decimal("-7.00"), Decimal(10**17)],
    "price": [None, Decimal("3.25"), Decimal("-7.00"), Decimal(10**9)],
    "text": [None, "a", "ä", "", "a"],
    "moment": [None, *(datetime(2024, 1, day, tzinfo=UTC) for day in (5, 1, 9))],
    "flag": [None, True, False, True],
    "list": [None, [1.5, None], [], [0.1, -3.0]],
}
EVERY = [row for row in ROWS if row.oracle is not None]
DRAWN = [pytest.param(row, kind, id=f"{row.call}-{kind}") for row in EVERY for kind in some(row.types, one_in=3)]
REGROUP = {
    "all_of", "any_of", "count", "count_if", "histogram", "max", "max_count", "mean", "min", "min_count", "range", "rate", "sum",
}  # fmt: skip
"""Aggregates whose states must regroup, with values of some type. Others may; the test of order and groups holds them to it, too."""


def states_of(row: Row, kind: str, dice: random.Random) -> pa.Table:
    """A dozen states, of up to three rows each."""
    kinds = COLUMNS | dict.fromkeys((*row.of, "other"), VALUES[kind][0])
    rows = [
        fixed(at) | {name: dice.choice(SOME[kind]) for name in row.of} | {"other": dice.choice(SOME[kind]), "time": at} for at in range(30)
    ]
    lists = [rows[3 * at : 3 * at + dice.randint(1, 3)] for at in range(10)]
    return lifted(row.made(), lists, kinds)


def regroups(row: Row, states: pa.Table) -> bool:
    return all(field.regroups(states.schema) for field in row.made().fields)


def in_any_way(row: Row, states: list[pa.Table], dice: random.Random) -> pa.Table:
    """One state of several: in a random order, in random groups, and groups of groups."""
    states = dice.sample(states, len(states))
    while len(states) > 1:
        count = dice.randint(2, len(states))
        states = [combined(row.made(), *states[:count]).cast(states[0].schema), *states[count:]]
        dice.shuffle(states)
    return states[0]


@pytest.mark.parametrize(("row", "kind"), DRAWN)
def test_any_order_and_any_groups_give_the_same_bits(row: Row, kind: str) -> None:
    dice = random.Random(f"{row.call} {kind}")
    states = states_of(row, kind, dice)
    if not regroups(row, states):
        return
    states = states.filter(pa.array(~odd_floats(states, states.column_names)))
    each = [states.slice(at, 1) for at in range(len(states))]
    expected = combined(row.made(), *each).cast(states.schema)
    assert len(each) > 3
    for _ in range(TREES):
        assert bitwise(in_any_way(row, each, dice), expected)


def test_states_that_must_regroup_do() -> None:
    dice = random.Random(1)
    asked = [row for row in EVERY if row.name in REGROUP]
    assert {row.name for row in asked if any(regroups(row, states_of(row, kind, dice)) for kind in row.types)} == REGROUP


def test_sums_of_floats_do_not() -> None:
    [row] = [row for row in ROWS if row.call == 'sum("n")']
    rows = [[fixed(0) | {"n": n, "time": at}] for at, n in enumerate((0.1, 0.2, 0.3, 1e9, 0.7))]
    states = lifted(row.made(), rows, COLUMNS | {"n": pa.float64()})
    assert not regroups(row, states)
    each = [states.slice(at, 1) for at in range(len(states))]
    assert not all(bitwise(in_any_way(row, each, random.Random(at)), combined(row.made(), *each)) for at in range(20))


@pytest.mark.parametrize("values", [[0.0, -0.0], [float("nan"), 1.0]])
def test_odd_floats(values: list[float]) -> None:
    table = pa.table({"x": pa.array([None, 1.5, *values]), "s": ["a"] * 4})
    assert odd_floats(table, ["x", "s"]).tolist() == [False, False, *(bool(np.isnan(x) or str(x) == "-0.0") for x in values)]


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    """As of states: a tile with such a sum is not usable."""
    [row] = [row for row in ROWS if row.call == 'sum("n")']
    rows = [[fixed(0) | {"n": 2**62, "time": 0}], [fixed(0) | {"n": 2**62, "time": 0}]]
    states = lifted(row.made(), rows, COLUMNS)
    with pytest.raises(SourceError):
        combined(row.made(), states.slice(0, 1), states.slice(1, 1))
