"""Every aggregate of the catalogue, over values that hurt."""

import inspect
import math
from datetime import UTC
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines import aggregates as agg
from pipelines.aggregates import Aggregate, Field, Fold, Select
from tests.laws import laws
from tests.laws.keeping import KEEPING, VARIANTS
from tests.laws.states import combine, finish, lift

VALUES: dict[str, tuple[pa.DataType, Any]] = {
    "int": (pa.int64(), st.integers(-(2**60), 2**60) | st.sampled_from([0, 1, -1])),
    "float": (pa.float64(), st.floats(-1e3, 1e3) | st.sampled_from([-0.0, 1e-9, 0.1])),
    "offset": (pa.float64(), st.integers(-100, 100).map(lambda n: 1e9 + n / 8)),
    "absurd": (pa.float64(), st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5])),
    "decimal": (pa.decimal128(38, 2), st.integers(-(10**35), 10**35).map(lambda n: Decimal(f"{n}.25"))),
    "text": (pa.string(), st.text("aäß✓\x00", max_size=3)),
    "moment": (pa.timestamp("us", tz="UTC"), st.datetimes(timezones=st.just(UTC))),
    "flag": (pa.bool_(), st.booleans()),
}
NUMBERS = ("int", "float", "offset", "absurd", "decimal")
ORDERED = tuple(VALUES)
CATALOGUE: dict[str, tuple[Aggregate, tuple[str, ...]]] = {
    "count": (agg.count(), ("int",)),
    "count_if": (agg.count_if("x > 0"), ("int", "absurd", "decimal")),
    "sum": (agg.sum("x"), NUMBERS),
    "mean": (agg.mean("x"), NUMBERS),
    "min": (agg.min("x"), ORDERED),
    "max": (agg.max("x"), ORDERED),
    "first": (agg.first("x"), ORDERED),
    "last": (agg.last("x"), ORDERED),
    "variance": (agg.variance("x"), ("float", "offset", "absurd")),
    "stddev": (agg.stddev("x", population=True), ("float", "offset", "absurd")),
    **KEEPING,
}
PAIRS = [
    pytest.param(aggregate, kind, id=f"{name}-{kind}") for name, (aggregate, kinds) in (CATALOGUE | VARIANTS).items() for kind in kinds
]


def test_no_aggregate_is_forgotten() -> None:
    public = {name for name in agg.__all__ if inspect.isfunction(getattr(agg, name))}
    assert public == set(CATALOGUE)


def parts(values: Any) -> Any:
    """Three lists of rows whose times ascend, with ties within and between them; one may be empty."""
    rows = st.lists(st.tuples(st.none() | values, st.integers(0, 2)), max_size=5)
    return st.tuples(rows, rows, rows).map(lambda lists: [timed(rows, place) for place, rows in enumerate(lists)])


def timed(rows: list[tuple[Any, int]], place: int) -> list[dict[str, Any]]:
    return [{"x": x, "time": 2 * place + t} for x, t in rows]


@pytest.mark.parametrize(("aggregate", "kind"), PAIRS)
def test_the_laws_hold(aggregate: Aggregate, kind: str) -> None:
    type_, values = VALUES[kind]

    @settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(parts(values))
    def hold(lists: list[list[dict[str, Any]]]) -> None:
        laws.check(aggregate, *lists, {"x": type_})

    hold()


def test_a_combine_that_forgets_is_refused() -> None:
    def later(x: Any, i: int, y: Any, j: int, out: Any, k: int) -> None:
        out[k, 0] = y[j, 0]

    wrong = Aggregate("later", "x", (Field("later", "x", (("", "sum(x)::DOUBLE"),), Fold("later", later)),), lambda value: value)
    rows = [[{"x": float(n), "time": n}] for n in (1, 2, 3)]
    with pytest.raises(AssertionError, match=r"accumulate|commutative|identity"):
        laws.check(wrong, *rows, {"x": pa.float64()})


def test_a_selection_that_is_not_ordered_must_commute() -> None:
    wrong = Aggregate("any", "x", (Field("any", "x", (("", "min(x)"), ("by", "0")), Loose("any", "by", least=True)),), lambda x, _by: x)
    with pytest.raises(AssertionError, match=r"commutative|identity|accumulate"):
        laws.check(wrong, *([{"x": n, "time": n}] for n in (1, 2, 3)), {"x": pa.int64()})


class Loose(Select):
    """Says that order does not matter, where it does."""

    ordered = False


# offsets of 1e9: sums of squares would give -170.7 for the 30 that is right
def test_variance_at_an_offset() -> None:
    spread, kinds = agg.variance("x"), {"x": pa.float64()}
    states = [lift(spread, [{"x": 1e9 + v, "time": v}], kinds) for v in (4, 7, 13, 16)]
    assert finish(spread, combine(spread, *states, mid=2)) == pytest.approx(30, rel=1e-9)
