"""Suites in this process, without Spark: what it needs, what it refuses, and the rows it shows."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin.errors import StateError
from muntin.files.object_path import ObjectPath
from muntin.quality import spark_frame, validate
from muntin.quality.pandas_rules import needs_spark
from muntin.quality.report import QualityReport
from muntin.quality.suite import Suite, SuiteError
from tests.quality.conftest import INSTANT, Stage, SuiteOf, hour
from tests.quality.test_flights_suite import SHIPPED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BETWEEN = "expect_column_values_to_be_between"
BUSY = (BETWEEN, {"column": "flights", "min_value": 1})


def checked(suite: Suite, *files: str, rows: int = 3, spark: Any = None) -> QualityReport:
    return validate(spark, suite, files=files, window="last_6_hours", keys=["origin"], rows=rows)


def test_it_needs_no_spark(stage: Stage) -> None:
    program = f"""
import sys
sys.modules.update(dict.fromkeys(["pyspark", "py4j", "grpc"]))  # importing any of them is an error
from muntin.quality import load_suite, validate
from muntin.quality.pandas_rules import needs_spark
suite = load_suite({str(SHIPPED)!r})
assert needs_spark(suite) is None
assert "great_expectations" not in sys.modules and "pyarrow" not in sys.modules
print(validate(None, suite, files=[sys.argv[1]], window="w", keys=["origin"], rows=3).verdict)
"""
    done = subprocess.run([sys.executable, "-c", program, stage()], capture_output=True, text=True, check=False)
    assert done.stdout == "passed: 9 checks on 3 rows\n", done.stderr


def test_files_may_lie_in_an_object_store(bucket: str, stage: Stage, suite_of: SuiteOf) -> None:
    address = f"{bucket}/staged.parquet"
    ObjectPath(address).write_bytes(Path(stage(flights=pa.array([1, 0, 1], pa.int64()))).read_bytes())
    (check,) = checked(suite_of(BUSY), address).checks
    assert [row["window_start"] for row in check.failing_rows] == [hour(1)]


REFUSED = {
    "a type": (("expect_column_values_to_match_regex", {"column": "origin", "regex": "^E"}), "its patterns are those of Java"),
    "SQL": (("unexpected_rows_expectation", {"unexpected_rows_query": "select * from {batch}"}), "it asks in SQL"),
    "a condition": (
        (BETWEEN, {"column": "late", "min_value": 1, "row_condition": 'col("late") > 3', "condition_parser": "great_expectations"}),
        "its row_condition is not that a column equals a plain word",
    ),
    "a text as number": ((BETWEEN, {"column": "origin", "min_value": 3}), "column 'origin' is string"),
    "NaN": (("expect_column_max_to_be_between", {"column": "delay", "min_value": 3}), "column 'delay' holds NaN"),
    "nulls": (("expect_column_pair_values_to_be_equal", {"column_A": "worst", "column_B": "delay"}), "column 'worst' holds nulls"),
    "two types": (("expect_column_pair_values_to_be_equal", {"column_A": "late", "column_B": "delay"}), "its columns have different types"),
    "a time without zone": (
        (BETWEEN, {"column": "window_start", "min_value": "2013-01-01T00:00:00"}),
        "it compares '2013-01-01T00:00:00' with column 'window_start', which is timestamp[us, tz=UTC]",
    ),
    "a large number": (
        (BETWEEN, {"column": "delay", "min_value": 2**53 + 1}),
        "it compares 9007199254740993 with column 'delay', which is double",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_spark_alone_judges_is_refused_with_a_sentence(stage: Stage, suite_of: SuiteOf, case: str) -> None:
    (type_, kwargs), reason = REFUSED[case]
    file = stage(delay=pa.array([1.0, float("nan"), 2.0]), worst=pa.array([1.0, None, 2.0]))
    suite = suite_of(BUSY, (type_, kwargs))
    with pytest.raises(SuiteError) as refused:
        checked(suite, file)
    assert str(refused.value).startswith(f"{suite.path}: expectation 2: {type_} is judged by Spark alone ({reason}")
    assert str(refused.value).endswith("): run with --spark local[*]")


def test_a_suite_tells_early_whether_it_needs_spark(suite_of: SuiteOf) -> None:
    assert needs_spark(suite_of(BUSY)) is None
    said = str(needs_spark(suite_of(BUSY, ("expect_column_value_to_be_betwen", {}))))
    assert said.startswith(
        "expectation 2: expect_column_value_to_be_betwen is judged by Spark alone (it is none of Great Expectations' own"
    )
    assert f"did you mean {BETWEEN}?" in said


def test_an_unknown_type_is_refused_as_on_spark(stage: Stage, suite_of: SuiteOf) -> None:
    with pytest.raises(SuiteError, match="unknown type"):
        checked(suite_of(("expect_nothing", {})), stage())


def test_files_that_cannot_be_read_or_differ_are_never_a_pass(stage: Stage, suite_of: SuiteOf, tmp_path: Path) -> None:
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(b"PAR1")
    for files in ([str(torn)], [str(tmp_path / "nowhere.parquet")], [stage(), stage("other.parquet", late=None)]):
        with pytest.raises(StateError, match="the staged Parquet files cannot be read"):
            checked(suite_of(BUSY), *files)


def test_texts_that_are_no_utf_8_are_an_error_with_words(stage: Stage, suite_of: SuiteOf) -> None:
    surrogate = pa.array([b"\xed\xa0\x80", b"a", b"b"]).view(pa.string())
    suite = suite_of(("expect_column_values_to_be_unique", {"column": "origin"}))
    with pytest.raises(StateError, match="UTF8"):
        checked(suite, stage(origin=surrogate))


@pytest.fixture
def many(tmp_path: Path) -> list[str]:
    """Files with 60 rows, of which each has two failing checks: beyond what is shown. The second file is the larger."""
    files = []
    for number, count in enumerate((20, 40)):
        starts = pa.array([hour(100 * number + n) for n in range(count)], INSTANT)
        columns = {"origin": ["EWR"] * count, "window_start": starts, "window_end": starts, "flights": [*range(-count, 0)]}
        pq.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
        files.append(str(tmp_path / f"{number}.parquet"))
    return files


def test_few_rows_many_rows_and_no_spark_give_the_same_report(
    spark: "SparkSession", many: list[str], suite_of: SuiteOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = suite_of(
        BUSY,
        ("expect_column_values_to_be_in_set", {"column": "flights", "value_set": [-40, -1]}),
        ("expect_table_row_count_to_equal", {"value": 9}),
    )
    few = checked(suite, *many, rows=60, spark=spark)
    monkeypatch.setattr(spark_frame, "ROWS", 0)
    read_by_spark = checked(suite, *many, rows=60, spark=spark)
    here = checked(suite, *many, rows=60)
    assert few.to_dict() == here.to_dict()
    assert read_by_spark.to_dict() == here.to_dict()
    assert [len(check.failing_rows) for check in here.checks] == [10, 10, 0]


def test_no_rows_and_no_files_are_as_on_spark(spark: "SparkSession", stage: Stage, suite_of: SuiteOf) -> None:
    suite = suite_of(BUSY, ("expect_table_row_count_to_be_between", {"min_value": 1}, "warning"))
    for files in ([], [stage(flights=pa.array([], pa.int64()))]):
        for rows in (0, 3):
            assert checked(suite, *files, rows=rows).to_dict() == checked(suite, *files, rows=rows, spark=spark).to_dict()
