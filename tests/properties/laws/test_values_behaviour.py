"""Funnels, retention and active periods on rows that are drawn: ways that begin again, ties, borders, times before 1970."""

from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from tests.properties.laws.states import finish, lift

STEPS = tuple(f"k = '{kind}'" for kind in "abc")
THREE = agg.funnel(*STEPS, within="10us")

# kinds of rows, with the time of each
FUNNELS: list[tuple[str, Aggregate, str, list[int], int]] = [
    ("all steps", THREE, "abc", [0, 5, 10], 3),
    ("the last a microsecond late", THREE, "abc", [0, 5, 11], 2),
    ("none", THREE, "bc", [0, 1], 0),
    ("out of order", THREE, "cba", [0, 1, 2], 1),
    ("others between", THREE, "axbyc", [0, 1, 2, 3, 4], 3),
    ("begun again", THREE, "aabc", [0, 8, 9, 18], 3),
    ("begun again too late for what went on", THREE, "abac", [0, 1, 8, 10], 3),
    ("the earlier way comes further", THREE, "abxca", [0, 1, 2, 3, 4], 3),
    ("by arrival at one time", THREE, "abc", [7, 7, 7], 3),
    ("against arrival at one time", THREE, "cba", [7, 7, 7], 1),
    ("by event time, not arrival", THREE, "cab", [9, 1, 5], 3),
    ("before 1970", THREE, "abc", [-10, -5, 0], 3),
    ("a row takes one step", agg.funnel("k <> 'x'", "k = 'a'", within="1h"), "xa", [0, 1], 1),
    ("two rows that take both", agg.funnel("k <> 'x'", "k = 'a'", within="1h"), "aa", [0, 1], 2),
    ("at once alone", agg.funnel(*STEPS, within=0), "abbc", [0, 0, 1, 1], 2),
    ("one step", agg.funnel("k = 'a'", within=0), "xa", [0, 1], 1),
    ("no row", THREE, "", [], 0),
    ("only some rows", agg.funnel(*STEPS, within="10us", where="k <> 'b'"), "abc", [0, 1, 2], 1),
]


def over(aggregate: Aggregate, kinds: str, times: list[int]) -> Any:
    rows = [{"k": kind, "time": time} for kind, time in zip(kinds, times, strict=True)]
    return finish(aggregate, lift(aggregate, rows, {"k": pa.string()}))


@pytest.mark.parametrize(("aggregate", "kinds", "times", "right"), [pytest.param(*rest, id=name) for name, *rest in FUNNELS])
def test_funnels(aggregate: Aggregate, kinds: str, times: list[int], right: int) -> None:
    assert over(aggregate, kinds, times) == right


@pytest.mark.parametrize(
    ("kinds", "right"),
    [("abc", [True] * 3), ("cba", [True] * 3), ("ac", [True, False, True]), ("bc", [False] * 3), ("", [False] * 3)],
)
def test_retention(kinds: str, right: list[bool]) -> None:
    assert over(agg.retention(*STEPS), kinds, [0] * len(kinds)) == right


DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("times", "right"),
    [([0, DAY - 1], 1), ([0, DAY], 2), ([-1, 0], 2), ([-DAY, -1], 1), ([-DAY - 1, -DAY], 2), ([], 0), ([5, 5 + 9 * DAY, 5], 2)],
)
def test_active_days(times: list[int], right: int) -> None:
    assert over(agg.active_periods("1d"), "x" * len(times), times) == right
