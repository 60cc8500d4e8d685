"""Great Expectations on Spark, held against staged files: verdicts, numbers, and the rows behind them."""

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from muntin.quality import validate
from muntin.quality.report import QualityReport
from muntin.quality.suite import ExpectationsFailed, Suite, SuiteError
from tests.quality.conftest import Stage, SuiteOf, hour

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BETWEEN = "expect_column_values_to_be_between"
NOT_NULL = "expect_column_values_to_not_be_null"
ROW_COUNT = "expect_table_row_count_to_be_between"
BUSY = (BETWEEN, {"column": "flights", "min_value": 1})
AT_JFK = {"type": "comparison", "column": {"name": "origin"}, "operator": "==", "parameter": "JFK"}
COUNTS = pa.int64()


def checked(spark: "SparkSession", suite: Suite, *files: str, rows: int = 3) -> QualityReport:
    return validate(spark, suite, files=files, window="last_6_hours", keys=["origin"], rows=rows)


def test_good_windows_pass(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    report = checked(spark, suite_of(BUSY, (NOT_NULL, {"column": "origin"})), stage())
    assert report.verdict == "passed: 2 checks on 3 rows"
    assert [check.success for check in report.checks] == [True, True]
    report.raise_if_critical()


# rows      0 1 2 3
# flights   5 0 7 0     1 and 3 are not what `flights >= 1` allows
def test_a_critical_failure_stops_with_numbers_and_rows(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    report = checked(spark, suite_of(BUSY), stage(flights=pa.array([5, 0, 7, 0], COUNTS)), rows=4)
    (check,) = report.checks
    assert (check.success, check.unexpected_count, check.unexpected_percent) == (False, 2, 50.0)
    assert check.failing_rows == (
        {"origin": "EWR", "window_start": hour(3), "window_end": hour(9), "flights": 0},
        {"origin": "JFK", "window_start": hour(1), "window_end": hour(7), "flights": 0},
    )
    with pytest.raises(ExpectationsFailed, match=r"JFK +2013-01-01T01:00:00Z +2013-01-01T07:00:00Z +0"):
        report.raise_if_critical()


def test_a_warning_is_told_and_lets_pass(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    report = checked(spark, suite_of(BUSY, (BETWEEN, {"column": "delay", "max_value": 10}, "warning")), stage())
    assert report.verdict == "warning: 1 warning of 2 checks on 3 rows"
    assert report.checks[1].unexpected_count == 3
    report.raise_if_critical()


def test_results_stand_in_the_order_of_the_suite(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    # Great Expectations groups by column: flights 0 and 2 first, then delay; equal expectations are kept apart.
    bounds = [("flights", 1, "critical"), ("delay", 99, "info"), ("flights", 1, "critical"), ("delay", 98, "warning")]
    suite = suite_of(*[(BETWEEN, {"column": column, "min_value": low}, grave) for column, low, grave in bounds])
    report = checked(spark, suite, stage())
    assert [(check.column, check.kwargs["min_value"], check.severity) for check in report.checks] == bounds
    assert [check.success for check in report.checks] == [True, False, True, False]


def test_a_missing_column_fails_with_the_severity_of_its_check(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    suite = suite_of((BETWEEN, {"column": "delays", "max_value": 9}, "warning"), (NOT_NULL, {"column": "key"}), BUSY)
    report = checked(spark, suite, stage())
    assert [check.success for check in report.checks] == [False, False, True]
    assert "no column 'delays' in the staged files; they have origin, window_start" in str(report.checks[0].error)
    assert report.status == "failed"


def test_a_column_that_must_exist_may_be_asked_for(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    suite = suite_of(*[("expect_column_to_exist", {"column": column}) for column in ("late", "early")])
    assert [check.success for check in checked(spark, suite, stage()).checks] == [True, False]


def test_checks_that_cannot_run_fail_and_leave_the_others_alone(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    suite = suite_of(
        BUSY,
        ("expect_column_values_to_match_regex", {"column": "origin", "regex": "[["}, "warning"),
        (BETWEEN, {"column": "origin", "min_value": 3}, "warning"),
        (BETWEEN, {"column": "flights", "min_value": 11}, "info"),
    )
    report = checked(spark, suite, stage())
    assert [check.success for check in report.checks] == [True, False, False, False]
    assert "Unclosed character class" in str(report.checks[1].error)
    assert "StringType" in str(report.checks[2].error)
    assert (report.checks[3].error, report.checks[3].unexpected_count) == (None, 3)
    assert report.status == "warning"


def test_an_expectation_of_ones_own_that_breaks_leaves_the_others_alone(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    from great_expectations.expectations.expectation import ColumnMapExpectation

    class ExpectColumnToBreak(ColumnMapExpectation):
        map_metric = "column_values.nonnull"

        def get_validation_dependencies(self, *_: object, **__: object) -> None:  # type: ignore[override]
            raise RuntimeError(self.column)

    report = checked(spark, suite_of(BUSY, ("expect_column_to_break", {"column": "late"}, "warning")), stage())
    assert [check.success for check in report.checks] == [True, False]
    assert report.checks[1].error == "RuntimeError: late"


def test_an_unknown_expectation_is_refused_with_its_neighbours(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    suite = suite_of(BUSY, ("expect_column_value_to_be_betwen", {"column": "flights", "min_value": 1}))
    with pytest.raises(SuiteError, match=rf"expectation 2: unknown type .*did you mean .*{BETWEEN}") as refused:
        checked(spark, suite, stage())
    assert suite.path in str(refused.value)


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"column": "flights"}, "min_value and max_value cannot both be None"),
        ({"column": "flights", "min_value": 1, "max_vlaue": 9}, "max_vlaue extra fields not permitted"),
        ({"min_value": 1}, "column field required"),
    ],
)
def test_wrong_arguments_are_refused(spark: "SparkSession", stage: Stage, suite_of: SuiteOf, kwargs: dict[str, object], said: str) -> None:
    with pytest.raises(SuiteError, match=said):
        checked(spark, suite_of((BETWEEN, kwargs, "info")), stage())


def test_no_rows_are_told_when_the_suite_is_silent_about_them(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    for files in ([], [stage(flights=pa.array([], COUNTS))]):
        report = checked(spark, suite_of(BUSY), *files, rows=0)
        assert report.verdict == "warning: no rows: nothing was checked"
        report.raise_if_critical()


@pytest.mark.parametrize(("least", "status"), [(1, "failed"), (0, "passed")])
def test_a_suite_that_speaks_of_the_number_of_rows_decides(
    spark: "SparkSession", stage: Stage, suite_of: SuiteOf, least: int, status: str
) -> None:
    suite = suite_of((ROW_COUNT, {"min_value": least}), ("expect_column_mean_to_be_between", BUSY[1]))
    for files in ([], [stage(flights=pa.array([], COUNTS))]):
        report = checked(spark, suite, *files, rows=0)
        assert (report.status, report.checks[1].success) == (status, None)


@pytest.mark.parametrize(("staged_rows", "computed"), [(2, 3), (3, 2), (0, 3), (3, 0)])
def test_files_that_hold_another_number_of_rows_than_were_staged_fail(
    spark: "SparkSession", stage: Stage, suite_of: SuiteOf, staged_rows: int, computed: int
) -> None:
    report = checked(spark, suite_of(BUSY), stage(flights=pa.array([1] * staged_rows, COUNTS)), rows=computed)
    assert report.status == "failed"
    assert f"{staged_rows} rows in the staged files, where {computed} were staged" in report.text()


def test_an_unreadable_file_is_never_a_pass(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    path = stage()
    with open(path, "r+b") as file:  # noqa: PTH123 - it is cut in place
        file.truncate(100)
    with pytest.raises(Exception, match=r"(?i)parquet"):
        checked(spark, suite_of((*BUSY, "info")), path).raise_if_critical()


def test_columns_as_a_whole_are_observed(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    suite = suite_of(("expect_column_mean_to_be_between", {"column": "delay", "max_value": 10}), (ROW_COUNT, {"max_value": 2}))
    mean, count = checked(spark, suite, stage()).checks
    assert (mean.success, mean.observed_value, mean.failing_rows) == (False, 12.5, ())
    assert (count.success, count.observed_value) == (False, 3)


# rows      0    1    2    3    4    5
# origin    EWR  JFK  LGA  EWR  JFK  LGA
# flights   0    0    9    9    9    9
# late      2    2    2    2    10   2
@pytest.mark.parametrize(
    ("expectation", "kwargs", "hours"),
    [
        (BETWEEN, {"column": "flights", "min_value": 1, "row_condition": AT_JFK}, [1]),
        ("expect_column_pair_values_a_to_be_greater_than_b", {"column_A": "flights", "column_B": "late"}, [0, 1, 4]),
        ("expect_column_values_to_not_be_in_set", {"column": "late", "value_set": [10]}, [4]),
        ("expect_column_values_to_be_unique", {"column": "late"}, [0, 1, 2, 3, 5]),
        ("expect_compound_columns_to_be_unique", {"column_list": ["origin", "flights"]}, [2, 5]),
        (
            "unexpected_rows_expectation",
            {"unexpected_rows_query": "select * from {batch} where late > flights"},
            [0, 1, 4],
        ),
        (NOT_NULL, {"column": "worst"}, [3]),
        ("expect_column_values_to_match_regex", {"column": "origin", "regex": "^[EJ]"}, [2, 5]),
        (BETWEEN, {"column": "window_start", "min_value": "2013-01-01T01:00:00Z"}, [0]),
    ],
)
def test_the_rows_shown_are_the_rows_that_fail(
    spark: "SparkSession",
    stage: Stage,
    suite_of: SuiteOf,
    expectation: str,
    kwargs: dict[str, object],
    hours: list[int],
) -> None:
    file = stage(
        flights=pa.array([0, 0, 9, 9, 9, 9], COUNTS),
        late=pa.array([2, 2, 2, 2, 10, 2], COUNTS),
        worst=pa.array([1.0, 1.0, 1.0, None, 1.0, 1.0]),
    )
    (check,) = checked(spark, suite_of((expectation, kwargs)), file, rows=6).checks
    assert sorted(row["window_start"] for row in check.failing_rows) == [hour(n) for n in hours]  # type: ignore[type-var]


def test_a_query_shows_whole_rows_and_runs_in_the_session_it_is_given(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    query = "select * from {batch} where flights = 0"
    suite = suite_of(("unexpected_rows_expectation", {"unexpected_rows_query": query}))
    (check,) = checked(spark.newSession(), suite, stage(flights=pa.array([0], COUNTS)), rows=1).checks
    assert (check.error, check.observed_value) == (None, 1)
    names = ("origin", "window_start", "window_end", "flights", "late", "delay", "worst", "batch")
    assert [tuple(row) for row in check.failing_rows] == [names]


def test_at_most_twenty_rows_are_shown_over_all_checks(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    file = stage(flights=pa.array([0] * 50, COUNTS))
    alone = checked(spark, suite_of(BUSY), file, rows=50)
    assert (alone.checks[0].unexpected_count, len(alone.checks[0].failing_rows)) == (50, 20)
    three = checked(spark, suite_of(BUSY, BUSY, (BETWEEN, {"column": "late", "max_value": 1})), file, rows=50)
    assert [len(check.failing_rows) for check in three.checks] == [6, 6, 6]


def test_null_keys_and_words_of_any_script_are_shown(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    columns = {"origin": [None, "Zürich 'Flughafen'", "新"], "mean delay (min)": [9.0, 9.0, float("nan")]}
    suite = suite_of((BETWEEN, {"column": "mean delay (min)", "max_value": 1}))
    report = checked(spark, suite, stage("日 [0-9]{a}*/staged 1.parquet", **columns))
    assert [row["origin"] for row in report.checks[0].failing_rows] == [None, "Zürich 'Flughafen'", "新"]
    assert "Zürich" in report.text()


def test_files_of_several_batches_are_one_table(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    files = [stage(f"batch=2013010{day}T000000Z/part-0.parquet", flights=pa.array([0, 1], COUNTS)) for day in (1, 2)]
    names = ["origin", "window_start", "window_end", "flights", "late", "delay", "worst", "batch"]
    suite = suite_of(BUSY, ("expect_table_columns_to_match_ordered_list", {"column_list": names}))
    busy, columns = checked(spark, suite, *files, rows=4).checks
    assert (busy.unexpected_count, [row["window_start"] for row in busy.failing_rows]) == (2, [hour(0), hour(0)])
    assert columns.success


def test_windows_without_keys_are_shown_by_their_time(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    file = stage(origin=None, flights=pa.array([1, 0], COUNTS))
    report = validate(spark, suite_of(BUSY), files=[file], window="day", keys=[], rows=2)
    assert report.checks[0].failing_rows == ({"window_start": hour(1), "window_end": hour(7), "flights": 0},)


def test_a_pass_takes_few_jobs_and_keeps_nothing(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    context = spark.sparkContext
    suite = suite_of(
        BUSY,
        (ROW_COUNT, {"min_value": 1}),
        *[(BETWEEN, {"column": "delay", "max_value": high}) for high in range(50, 60)],
    )
    file = stage()
    kept_before = set(context._jsc.getPersistentRDDs())
    context.setJobGroup("few", "few jobs")
    try:
        assert checked(spark, suite, file).status == "passed"
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    assert len(context.statusTracker().getJobIdsForGroup("few")) <= 4  # schema, cache, number of rows, all columns at once
    assert set(context._jsc.getPersistentRDDs()) <= kept_before
