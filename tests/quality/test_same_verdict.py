"""The law of both engines: the same report by pandas in this process as by Spark, or a sentence that leaves the suite to Spark."""

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from muntin.quality import validate
from muntin.quality.column_limits import kind_of
from muntin.quality.gx import imported
from muntin.quality.pandas_rules import LEFT_TO_SPARK, RULES, needs_spark
from muntin.quality.suite import Expectation, Suite, SuiteError
from tests import case_counts
from tests.quality.conftest import INSTANT, NEW_YEAR, hour

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BIG = 2**63 - 1
SHORT, LONG = [0, 1, -1, 2, 3, 100], [0, 1, -1, 2, 3, 2**53, 2**53 + 1, BIG - 1, BIG, -BIG - 1]
FLOATS = [0.0, -0.0, 1.0, 2.5, 3.0, -2.5, math.nan, math.inf, -math.inf, 1e308, 5e-324]
EIGHTHS = [0.0, -0.0, 1.0, 2.5, 3.0, -2.5, 0.125, math.nan]  # their sums are exact, in whatever order
TEXTS = ["", "a", "A", "EWR", "Zürich", "e\u0301", "é", "新", "😀", "a\n", "null", "nan", "1"]
DAYS = [date(2013, 1, 1), date(2013, 1, 2), date(1582, 10, 4), date(9999, 12, 31)]
INSTANTS = [NEW_YEAR, hour(1), NEW_YEAR + timedelta(microseconds=1), datetime(1900, 1, 1, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)]
VALUES: dict[pa.DataType, list[Any]] = {
    pa.bool_(): [True, False],
    pa.int8(): SHORT,
    pa.int16(): SHORT,
    pa.int32(): SHORT,
    pa.int64(): LONG,
    pa.float32(): [*EIGHTHS, 0.1],
    pa.float64(): FLOATS,
    pa.string(): TEXTS,
    pa.dictionary(pa.int32(), pa.string()): TEXTS,
    pa.date32(): DAYS,
    INSTANT: INSTANTS,
    pa.timestamp("us", "Europe/Zurich"): INSTANTS[:3],
    pa.timestamp("us"): [NEW_YEAR.replace(tzinfo=None)],
    pa.decimal128(10, 2): [Decimal("0.10"), Decimal("-2.50"), Decimal("1.00"), Decimal("0.99")],
    pa.decimal128(38, 2): [Decimal("0.01"), Decimal("1.00"), Decimal("3.00"), Decimal(10) ** 35, Decimal("-2.01")],
    pa.decimal128(38, 20): [Decimal("0.99999999999999999999"), Decimal(1), Decimal("-2.00000000000000000001")],
    pa.binary(): [b"", b"a"],
    pa.list_(pa.int64()): [[], [1], [1, None]],
    pa.struct({"x": pa.int64()}): [{"x": 1}, {"x": None}],
}
SUMS = ("_sum_", "_mean_", "_median_")
NUMBERS: list[Any] = [0, 1, 2.5, -2, 0.1, 3, 2**53, 2**62, -(2**63), 10**19]
TIMES: list[Any] = ["2013-01-01", "1582-10-04", "2013-01-01T01:00:00Z", "2013-01-01T01:00:00+01:00", "2013-01-01T01:00:00"]
ALL = [*SHORT, *LONG, *FLOATS[:6], *TEXTS, True, False, 1.5, "2013-01-01"]
AT_JFK = {"type": "comparison", "column": {"name": "key"}, "operator": "==", "parameter": "JFK"}
NAMES = ("key", "a", "b", "window_start", "window_end", "batch")


@pytest.fixture(scope="module")
def session(spark: "SparkSession") -> "SparkSession":
    """Spark that compiles nothing: the answers are the same, and small frames are answered sooner."""
    session = spark.newSession()
    settings = {"wholeStage": "false", "factoryMode": "NO_CODEGEN"}
    for name, value in settings.items():
        session.conf.set(f"spark.sql.codegen.{name}", value)
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.sql.shuffle.partitions", "1")
    return session


def core_types() -> set[str]:
    imported()
    from great_expectations.expectations import registry

    types = registry.list_registered_expectation_implementations()
    return {name for name in types if registry.get_expectation_impl(name).__module__.startswith("great_expectations.expectations.core")}


def test_every_type_of_great_expectations_is_judged_by_both_or_left_to_spark() -> None:
    assert core_types() == {*RULES, *LEFT_TO_SPARK}
    assert not RULES.keys() & LEFT_TO_SPARK.keys()
    assert RULES.keys() == PLAIN.keys(), "a type that both engines judge needs a case below"


def table_of(kind: pa.DataType, a: list[Any], b: list[Any]) -> pa.Table:
    count = len(a)
    starts = pa.array([hour(n) for n in range(count)], INSTANT)
    column = pa.array(a, kind.value_type).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(a, kind)
    other = pa.array(b, kind.value_type).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(b, kind)
    keys = pa.array([("JFK", "EWR", None)[n % 3] for n in range(count)], pa.string())
    return pa.table(dict(zip(NAMES, (keys, column, other, starts, starts, starts), strict=True)))


@st.composite
def tables(draw: st.DrawFn, type_: str) -> pa.Table:
    judged = RULES[type_].kinds
    fit = [kind for kind in VALUES if judged is None or kind_of(kind) in judged]
    summed = any(word in type_ for word in SUMS)
    kind = draw(st.sampled_from([*fit, *fit, *fit, *VALUES]))
    pool = VALUES[kind] if not summed else {pa.float64(): EIGHTHS, pa.int64(): SHORT}.get(kind, VALUES[kind])
    value = st.sampled_from(pool) if draw(st.booleans()) else st.none() | st.sampled_from(pool)
    count = draw(st.integers(1, 7))
    return table_of(kind, *(draw(st.lists(value, min_size=count, max_size=count)) for _ in "ab"))


@st.composite
def cases(draw: st.DrawFn, type_: str) -> tuple[pa.Table, list[dict[str, Any]]]:
    """A table, and arguments of a type: most of them of the column's own kind, some of any."""
    table = draw(tables(type_))
    own = [value for value in table["a"].to_pylist() if isinstance(value, int | float | str)]
    bounds = TIMES if kind_of(table["a"].type) in {"day", "instant"} else NUMBERS
    return table, draw(st.lists(arguments(type_, own, draw(st.sampled_from([bounds] * 5 + [TIMES + NUMBERS]))), min_size=1, max_size=3))


@st.composite
def arguments(draw: st.DrawFn, type_: str, own: list[Any], limits: list[Any]) -> dict[str, Any]:
    """Arguments of a type by the words of its name."""
    one = {"column": "a"} if type_.startswith("expect_column_") else {}
    if "pair" in type_:
        ignored = st.sampled_from(["both_values_are_missing", "either_value_is_missing", "neither"])
        either = {"or_equal": draw(st.booleans())} if "greater" in type_ else {}
        some = draw(st.sampled_from([{}, {"row_condition": AT_JFK}]))
        return {"column_A": "a", "column_B": "b", "ignore_row_if": draw(ignored), **either, **some}
    if "compound" in type_ or "multicolumn" in type_ or "within_record" in type_:
        ignored = st.sampled_from(["all_values_are_missing", "any_value_is_missing", "never"])
        total = {"sum_total": draw(st.sampled_from([0, 1, 2, 3, 2.5]))} if "sum" in type_ else {}
        return {"column_list": ["a", "b"], "ignore_row_if": draw(ignored), **total}
    if type_.startswith("expect_table_columns"):
        name = "column_set" if "set" in type_ else "column_list"
        return {name: draw(st.sampled_from([[*NAMES], [*reversed(NAMES)], ["a"]]))}
    if "column_to_exist" in type_:
        return one | draw(st.sampled_from([{}, {"column_index": 1}, {"column_index": 2}]))
    return one | draw(_values(type_, own, limits)) | draw(_some_rows(type_))


def _values(type_: str, own: list[Any], limits: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    counted = any(word in type_ for word in ("count", "length"))
    if "set" in type_:
        mixed = st.sampled_from([*[own] * 4 * bool(own), SHORT, LONG, FLOATS[:6], TEXTS, [True, False], ALL]).flatmap(
            lambda pool: st.lists(st.sampled_from(pool), min_size=1, max_size=5)
        )
        return mixed.map(lambda values: {"value_set": [*values]})
    if "between" in type_:
        pool = [0, 1, 2, 3, 5] if counted else [0, 0.25, 0.5, 1] if "proportion" in type_ else limits
        if type_.startswith("expect_table_column_count"):
            return st.sampled_from([{"min_value": 5}, {"max_value": 4}])
        strict = st.booleans()
        least = st.builds(lambda value, strictly: {"min_value": value, "strict_min": strictly}, st.sampled_from(pool), strict)
        most = st.builds(lambda value, strictly: {"max_value": value, "strict_max": strictly}, st.sampled_from(pool), strict)
        return least | most
    if "equal" in type_:
        return st.sampled_from([0, 1, 2, 5]).map(lambda value: {"value": value})
    return st.just({})


def _some_rows(type_: str) -> st.SearchStrategy[dict[str, Any]]:
    if type_.startswith("expect_column_values"):
        return st.sampled_from([{}, {}, {"mostly": 0.5}, {"row_condition": AT_JFK}])
    return st.just({})


def both(session: "SparkSession", suite: Suite, file: Path, table: pa.Table) -> tuple[Any, Any]:
    """The reports of pandas and of Spark; or what pandas said when it refused, twice."""
    pq.write_table(table, file)
    asked: dict[str, Any] = {"files": [str(file)], "window": "w", "keys": ["key"], "rows": len(table)}
    try:
        here = validate(None, suite, **asked)
    except SuiteError as refused:
        return str(refused), str(refused)
    return here.to_dict(), validate(session, suite, **asked).to_dict()


PLAIN: dict[str, Any] = {
    **{name: {"column": "a", "value_set": [1, 2]} for name in RULES if "_set" in name and "column_" in name},
    **{
        name: {"column": "a", "min_value": 0.6, "max_value": 0.9}
        for name in RULES
        if name.startswith("expect_column_") and "between" in name
    },
    "expect_column_pair_values_a_to_be_greater_than_b": {"column_A": "a", "column_B": "b"},
    "expect_column_pair_values_to_be_equal": {"column_A": "a", "column_B": "b"},
    "expect_column_to_exist": {"column": "c"},
    "expect_column_unique_value_count_to_be_between": {"column": "a", "max_value": 1},
    "expect_column_value_lengths_to_be_between": {"column": "key", "max_value": 2},
    "expect_column_value_lengths_to_equal": {"column": "key", "value": 2},
    "expect_column_values_to_be_null": {"column": "a"},
    "expect_column_values_to_be_unique": {"column": "a"},
    "expect_column_values_to_not_be_null": {"column": "key"},
    "expect_compound_columns_to_be_unique": {"column_list": ["a", "b"]},
    "expect_multicolumn_sum_to_equal": {"column_list": ["a", "b"], "sum_total": 2},
    "expect_multicolumn_values_to_be_equal": {"column_list": ["a", "b"]},
    "expect_select_column_values_to_be_unique_within_record": {"column_list": ["a", "b"]},
    "expect_table_column_count_to_be_between": {"max_value": 4},
    "expect_table_column_count_to_equal": {"value": 4},
    "expect_table_columns_to_match_ordered_list": {"column_list": ["a"]},
    "expect_table_columns_to_match_set": {"column_set": ["a"]},
    "expect_table_row_count_to_be_between": {"max_value": 1},
    "expect_table_row_count_to_equal": {"value": 1},
}
"""Arguments that fail on the rows below."""


def test_what_fails_on_plain_columns_fails_on_both(session: "SparkSession", tmp_path: Path) -> None:
    suite = Suite("plain", tuple(Expectation(name, kwargs) for name, kwargs in PLAIN.items()))
    here, there = both(session, suite, tmp_path / "plain.parquet", table_of(pa.int64(), [1, 1, 3, 3], [1, 1, 5, 3]))
    assert here == there
    assert [check["type"] for check in here["checks"] if check["success"]] == []
    assert {check["error"] for check in here["checks"]} == {None}


@pytest.mark.parametrize("type_", case_counts.some(sorted(RULES), one_in=6))
def test_the_report_is_the_same(session: "SparkSession", tmp_path: Path, type_: str) -> None:
    @settings(max_examples=case_counts.cases(150), suppress_health_check=[*HealthCheck], database=None, phases=[Phase.generate])
    @given(cases(type_))
    def check(case: tuple[pa.Table, list[dict[str, Any]]]) -> None:
        table, several = case
        suite = Suite("random", tuple(Expectation(type_, kwargs) for kwargs in several))
        here, there = both(session, suite, tmp_path / "random.parquet", table)
        assert here == there, (table.to_pydict(), suite)

    check()


@pytest.mark.parametrize("name", sorted(LEFT_TO_SPARK))
def test_what_is_left_to_spark_says_so(name: str) -> None:
    reason = needs_spark(Suite("s", (Expectation(name, {"column": "a"}),)))
    assert reason == f"expectation 1: {name} is judged by Spark alone ({LEFT_TO_SPARK[name]}): run with --spark local[*]"
