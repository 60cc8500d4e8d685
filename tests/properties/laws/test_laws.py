"""Every aggregate of the catalogue, over values that hurt."""

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark import cloudpickle

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.algebra import Fold, Select
from muntin.aggregates.counting import shared_fields
from muntin.jobs.state.fingerprint import derivation, fingerprint
from muntin.laws.check import prove
from muntin.laws.states import finished, lifted
from tests import case_counts
from tests.catalogue.aggregates import CARRYING, ROWS, Row
from tests.catalogue.columns import COLUMNS, fixed
from tests.properties.equal_values import alike
from tests.properties.laws.states import combine, finish, lift

VALUES: dict[str, tuple[pa.DataType, Any]] = {
    "int": (pa.int64(), st.integers(-(2**60), 2**60) | st.sampled_from([0, 1, -1])),
    "float": (pa.float64(), st.floats(-1e3, 1e3) | st.sampled_from([-0.0, 1e-9, 0.1])),
    "offset": (pa.float64(), st.integers(-100, 100).map(lambda n: 1e9 + n / 8)),
    "absurd": (pa.float64(), st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5])),
    "decimal": (pa.decimal128(38, 2), st.integers(-(10**35), 10**35).map(lambda n: Decimal(f"{n}.25"))),
    "price": (pa.decimal128(18, 2), st.integers(-(10**6), 10**6).map(lambda n: Decimal(f"{n}.25"))),
    "text": (pa.string(), st.text("aäß✓\x00", max_size=3)),
    "moment": (pa.timestamp("us", tz="UTC"), st.datetimes(timezones=st.just(UTC))),
    "flag": (pa.bool_(), st.booleans()),
    "list": (pa.list_(pa.float64()), st.lists(st.none() | st.sampled_from([math.nan, -0.0, 0.1, 1.5, -3.0]), max_size=3)),
}
PAIRS = [pytest.param(row, kind, id=f"{row.call}-{kind}") for row in (*ROWS, *CARRYING) for kind in case_counts.some(row.types, one_in=3)]


def test_a_pipeline_takes_the_whole_catalogue() -> None:
    source = sources.files("{start:%Y-%m-%dT%H}.csv", event_time="t")
    whole = Pipeline(
        name="whole",
        source=source,
        schedule="1h",
        start=datetime(2024, 1, 1, tzinfo=UTC),
        windows={"hours": windows.tumbling("1h")},
        aggregates={f"a_{at}": row.made() for at, row in enumerate((*ROWS, *CARRYING))},
    )
    again = cloudpickle.loads(cloudpickle.dumps(whole))  # as Spark's tasks get it
    assert fingerprint(again) == fingerprint(whole)
    assert derivation(again, "hours") == derivation(whole, "hours")
    fields = shared_fields(whole.aggregates)
    assert len({column.lower() for field in fields for column in field.columns}) == sum(len(field.columns) for field in fields)


def cases(row: Row, values: Any) -> Any:
    """Several times three lists of rows whose times ascend, with ties within and between them; any may be empty."""
    rows = st.lists(st.tuples(st.none() | values, st.none() | values, st.integers(0, 2)), max_size=5)
    case = st.tuples(rows, rows, rows).map(lambda lists: tuple(timed(row, rows, place) for place, rows in enumerate(lists)))
    return st.lists(case, min_size=case_counts.cases(8), max_size=case_counts.cases(16))


def timed(row: Row, rows: list[tuple[Any, Any, int]], place: int) -> list[dict[str, Any]]:
    """`other` is what `where=` looks at."""
    return [fixed(2 * place + t) | dict(zip(row.of, (x, y), strict=False)) | {"other": y, "time": 2 * place + t} for x, y, t in rows]


def kinds_of(row: Row, kind: pa.DataType) -> dict[str, pa.DataType]:
    """The types of the columns: those that the row leaves open are of this type."""
    return COLUMNS | dict.fromkeys((*row.of, "other"), kind)


# Of a dozen cases each (one while you work), and no smaller ones sought: a failure tells the smallest of its dozen.
FEW = settings(max_examples=case_counts.cases(2), database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(("row", "kind"), PAIRS)
def test_the_laws_hold(row: Row, kind: str) -> None:
    type_, values = VALUES[kind]

    @FEW
    @given(cases(row, values))
    def hold(found: list[Any]) -> None:
        prove(row.made(), found, kinds_of(row, type_))

    hold()


@pytest.mark.parametrize("row", [row for row in ROWS if "where=" not in row.call], ids=lambda row: row.call)
def test_where_leaves_rows_out(row: Row) -> None:
    type_, values = VALUES[row.types[0]]
    aggregate, some, kinds = row.made(), row.made(where="other IS NOT NULL"), kinds_of(row, type_)
    assert {field.stem for field in some.fields}.isdisjoint(field.stem for field in aggregate.fields)

    @FEW
    @given(cases(row, values))
    def hold(found: list[Any]) -> None:
        lists = [[row for part in case for row in part] for case in found]
        there = [[row for row in rows if row["other"] is not None] for rows in lists]
        ours, theirs = (finished(one, lifted(one, rows, kinds)).to_pylist() for one, rows in ((some, lists), (aggregate, there)))
        assert alike(ours, theirs)

    hold()
    empty = fixed(0) | dict.fromkeys((*row.of, "other"))
    prove(some, [tuple([empty | {"time": time}] for time in range(3))], kinds)


def test_groups_of_an_aggregate_with_where() -> None:
    rows = [{"x": x, "y": y, "time": 0} for x, y in ((1, "a"), (2, "a"), (-1, "b"))]
    kinds = {"x": pa.int64(), "y": pa.string()}

    def found(aggregate: Aggregate) -> Any:
        return finish(aggregate, lift(aggregate, rows, kinds))

    assert found(agg.by("y", agg.count(where="x > 1"))) == [("a", 1), ("b", 0)]
    assert found(agg.by("y", agg.count(), where="x > 1")) == [("a", 1)]
    assert found(agg.by("y", agg.count(where="x > 1"), where="x < 2")) == [("a", 0), ("b", 0)]


def test_a_combine_that_forgets_is_refused() -> None:
    def later(x: Any, i: int, y: Any, j: int, out: Any, k: int) -> None:
        out[k, 0] = y[j, 0]

    wrong = Aggregate("later", "x", (Field("later", "x", (("", "sum(x)::DOUBLE"),), Fold("later", later)),), lambda value: value)
    rows = tuple([{"x": float(n), "time": n}] for n in (1, 2, 3))
    with pytest.raises(AssertionError, match=r"accumulate|commutative|identity"):
        prove(wrong, [rows], {"x": pa.float64()})


def test_a_selection_that_is_not_ordered_must_commute() -> None:
    wrong = Aggregate("any", "x", (Field("any", "x", (("", "min(x)"), ("by", "0")), Loose("any", "by", least=True)),), lambda x, _by: x)
    with pytest.raises(AssertionError, match=r"commutative|identity|accumulate"):
        prove(wrong, [tuple([{"x": n, "time": n}] for n in (1, 2, 3))], {"x": pa.int64()})


class Loose(Select):
    """Says that order does not matter, where it does."""

    ordered = False


# offsets of 1e9: sums of squares would give -170.7 for the 30 that is right
def test_variance_at_an_offset() -> None:
    spread, kinds = agg.variance("x"), {"x": pa.float64()}
    states = [lift(spread, [{"x": 1e9 + v, "time": v}], kinds) for v in (4, 7, 13, 16)]
    assert finish(spread, combine(spread, *states, mid=2)) == pytest.approx(30, rel=1e-9)
