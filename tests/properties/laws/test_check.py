"""`laws.check` lets sound aggregates pass and tells of each broken law with the fewest rows."""

import pickle
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin import laws
from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.algebra import Fold
from muntin.errors import DefinitionError, LawError, MuntinError

VALUES = [None, 0, 1, -2, 7]


def total(**other: Any) -> Aggregate:
    """The sum of x as four functions, some of them others."""
    functions: dict[str, Any] = {
        "create": int,
        "accumulate": lambda state, value: state + value,
        "combine": lambda one, other: one + other,
        "finish": lambda state: state,
        "deduct": lambda one, other: one - other,
    }
    return agg.own("total", "x", **(functions | other), returns=pa.int64())


def listed(**other: Any) -> Aggregate:
    """The values sorted, in a list that functions may change."""
    functions: dict[str, Any] = {
        "create": list,
        "accumulate": lambda state, value: sorted([*state, value]),
        "combine": lambda one, other: sorted(one + other),
        "finish": lambda state: state[0] if state else None,
    }
    return agg.own("listed", "x", **(functions | other), returns=pa.int64())


def appended(one: list[int], other: list[int]) -> list[int]:
    one += other
    return one


@pytest.mark.parametrize("sound", [total(), listed(), agg.median("x"), agg.sum("x"), agg.first("x"), agg.by("x", agg.count())], ids=str)
def test_a_sound_aggregate_passes(sound: Aggregate) -> None:
    laws.check(sound, VALUES)


BROKEN = {
    "deduct": total(deduct=lambda one, other: one - other - 1),
    "commutative": listed(accumulate=lambda state, value: [*state, value], combine=appended),
    "finish leaves the state alone": listed(finish=lambda state: state.pop() if state else None),
    "finish twice": listed(finish=lambda _state, seen=[]: seen.append(1) or len(seen)),
    "accumulate == combine": total(combine=lambda one, other: one + other + 1 if one and other else one + other, deduct=None),
    "associative": total(accumulate=lambda _state, value: value, combine=lambda one, other: (one + other) / 2, deduct=None),
    "identity": total(create=lambda: 1, deduct=None),
}


@pytest.mark.parametrize("law", BROKEN)
def test_a_broken_law_is_named(law: str) -> None:
    with pytest.raises(LawError, match=law):
        laws.check(BROKEN[law], VALUES)


def test_a_fold_that_forgets_is_refused() -> None:
    def later(x: Any, i: int, y: Any, j: int, out: Any, k: int) -> None:
        out[k, 0] = y[j, 0]

    wrong = Aggregate("later", "x", (Field("later", "x", (("", "sum(x)::DOUBLE"),), Fold("later", later)),), lambda value: value)
    with pytest.raises(LawError, match="later"):
        laws.check(wrong, [1.0, 2.0])


def test_a_fold_whose_emptiness_is_not_zero_is_refused() -> None:
    def greatest(x: Any, i: int, y: Any, j: int, out: Any, k: int) -> None:
        out[k, 0] = max(x[i, 0], y[j, 0])

    lift = (("", "coalesce(max(x), '-inf'::DOUBLE)"),)
    wrong = Aggregate("most", "x", (Field("most", "x", lift, Fold("most", greatest)),), lambda value: value)
    with pytest.raises(LawError, match="empty: a window without states"):
        laws.check(wrong, [1.0, 2.0])


class Counted:
    """A state that knows nothing of equality."""

    def __init__(self, n: int = 0) -> None:
        self.n = n


def test_states_need_not_know_when_they_are_equal() -> None:
    functions: dict[str, Any] = {
        "create": Counted,
        "accumulate": lambda state, _value: Counted(state.n + 1),
        "combine": lambda one, other: Counted(one.n + other.n),
        "finish": lambda state: state.n,
    }
    laws.check(agg.own("counted", "x", **functions), VALUES)
    with pytest.raises(LawError):
        laws.check(agg.own("counted", "x", **(functions | {"combine": lambda one, _other: one})), VALUES)


def test_the_smallest_case_is_told() -> None:
    # 3 and 3 make the product, and no single row does
    wrong = total(combine=lambda one, other: one * other if one == other == 3 else one + other, deduct=None)
    with pytest.raises(LawError) as told:
        laws.check(wrong, [5, 3, 4])
    assert "total(x) breaks a law: accumulate == combine . lift." in str(told.value)
    assert "x=3 at 0" in str(told.value)
    assert "is 9, not 6" in str(told.value)
    assert str(told.value).count("x=3") == 2
    assert isinstance(told.value, MuntinError)


def test_rows_of_several_columns() -> None:
    dot = agg.own(
        "dot",
        "{'x': x, 'y': y}",
        create=int,
        accumulate=lambda state, row: state + row["x"] * row["y"],
        combine=lambda one, other: one + other,
        finish=float,
    )
    laws.check(dot, [{"x": 1, "y": 2}, {"x": -3, "y": 4}, {"x": 0, "y": 1}])
    with pytest.raises(DefinitionError, match="give rows"):
        laws.check(dot, [1, 2])


def test_examples_that_do_not_fit_are_refused_in_words() -> None:
    with pytest.raises(DefinitionError, match="does not fit the examples, which have x int64"):
        laws.check(agg.to_map("x", "y"), [1, 2])
    with pytest.raises(DefinitionError, match="does not fit the examples"):
        laws.check(agg.median("x"), ["many"])


def test_types_are_said_where_examples_do_not_say_them() -> None:
    laws.check(agg.mode("x"), [None, 1, 2], types={"x": pa.decimal128(38, 2)})


def test_no_examples_prove_nothing() -> None:
    with pytest.raises(DefinitionError, match="no example values"):
        laws.check(total(), [])


def test_states_of_ones_own_are_plain_pickles() -> None:
    counted = agg.own("counter", "x", create=Counter, accumulate=counting, combine=lambda one, other: one + other, finish=len)
    lists = pa.array([["a", "b", "a"], []], pa.list_(pa.string()))
    assert [pickle.loads(state) for state in counted.fields[0].seal(lists)[0].to_pylist()] == [Counter("aba"), Counter()]  # noqa: S301 - our own


def counting(state: Counter[str], value: str) -> Counter[str]:
    state[value] += 1
    return state
