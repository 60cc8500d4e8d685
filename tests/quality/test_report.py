"""The verdict over many checks, and how it reads."""

import json
import pickle
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from muntin.errors import ExpectationsError
from muntin.quality.report import Check, QualityReport
from muntin.quality.suite import ExpectationsFailed, Severity

BETWEEN = "expect_column_values_to_be_between"
KOLKATA = timezone(timedelta(hours=5, minutes=30))


def check(severity: Severity = "critical", *, success: bool | None = True) -> Check:
    return Check(BETWEEN, "delay", {"column": "delay", "max_value": 600}, severity, success)


def report(*checks: Check, rows: int = 216) -> QualityReport:
    return QualityReport("last_6_hours", rows, checks, ("staged/a.parquet",))


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([check(), check("info")], "passed: 2 checks on 216 rows"),
        ([check(), check("warning", success=False)], "warning: 1 warning of 2 checks on 216 rows"),
        ([check(success=False)], "failed: 1 critical of 1 check on 216 rows"),
        (
            [check(success=False), check("warning", success=False)],
            "failed: 1 critical, 1 warning of 2 checks on 216 rows",
        ),
        ([check(), check("info", success=False)], "passed: 1 info of 2 checks on 216 rows"),
    ],
)
def test_the_gravest_failure_decides(checks: list[Check], verdict: str) -> None:
    assert report(*checks).verdict == verdict
    assert report(*checks).status == verdict.partition(":")[0]


def test_only_a_critical_failure_raises() -> None:
    for harmless in ("warning", "info"):
        report(check(), check(harmless, success=False)).raise_if_critical()
    with pytest.raises(ExpectationsFailed) as stopped:
        report(check(success=False)).raise_if_critical()
    assert isinstance(stopped.value, ExpectationsError)
    assert stopped.value.report.status == "failed"


def test_no_rows_and_no_opinion_on_their_number_is_a_warning_in_words() -> None:
    nothing = report(check(success=None), rows=0)
    assert (nothing.status, nothing.verdict) == ("warning", "warning: no rows: nothing was checked")
    nothing.raise_if_critical()


def test_an_opinion_on_the_number_of_rows_decides_over_no_rows() -> None:
    counted = replace(check(), type="expect_table_row_count_to_equal")
    assert report(counted, check(success=None), rows=0).verdict == "passed: 1 check on 0 rows; 1 not checked: no rows"


def test_the_text_has_window_numbers_rows_files_and_what_to_do() -> None:
    rows = (
        {"origin": "EWR", "window_start": datetime(2013, 1, 2, tzinfo=UTC), "delay": 612.5},
        {"origin": None, "window_start": datetime(2013, 1, 2, 6, 30, tzinfo=KOLKATA), "delay": float("inf")},
    )
    bad = replace(check(success=False), unexpected_count=2, unexpected_percent=2 / 216 * 100, failing_rows=rows)
    assert report(check(), bad).text().splitlines() == [
        "window 'last_6_hours' failed: 1 critical of 2 checks on 216 rows",
        "  critical: expect_column_values_to_be_between(column='delay', max_value=600)",
        "    2 rows (0.926 %) not as expected; 2 of them:",
        "    origin  window_start          delay",
        "    EWR     2013-01-02T00:00:00Z  612.5",
        "    null    2013-01-02T01:00:00Z  inf",
        "  Nothing of this run was published; windows published earlier stay as they are.",
        "  To mend it: correct the source data (or the suite, if it is the suite that is wrong); then clear the failed",
        "  run, its task `accumulate` and all after it, or run the same interval again.",
        "  The staged files, as they were checked:",
        "    staged/a.parquet",
    ]


def test_a_check_that_could_not_run_says_why_and_a_warning_does_not_say_what_to_do() -> None:
    broken = replace(check("warning", success=False), error="no column 'delay'")
    assert report(broken).text().splitlines()[2:] == ["    could not run: no column 'delay'"]


def test_many_files_are_not_all_named() -> None:
    many = QualityReport("day", 1, (check(success=False),), tuple(f"{n}.parquet" for n in range(9)))
    assert "4.parquet\n    and 4 more" in many.text()
    assert "5.parquet" not in many.text()


def test_the_report_is_json_whatever_is_in_the_rows() -> None:
    row = {
        "key": float("nan"),
        "at": datetime(2013, 1, 1, tzinfo=UTC),
        "sum": Decimal("1.10"),
        "raw": b"\x01",
        "none": None,
    }
    bad = replace(check(success=False), observed_value={"values": (1, float("-inf"))}, failing_rows=(row,))
    once = json.loads(json.dumps(report(bad).to_dict(), allow_nan=False))
    assert once["verdict"] == "failed: 1 critical of 1 check on 216 rows"
    assert once["checks"][0]["failing_rows"] == [{"key": "nan", "at": "2013-01-01T00:00:00Z", "sum": "1.10", "raw": "01", "none": None}]
    assert once["checks"][0]["observed_value"] == {"values": [1, "-inf"]}


def test_the_exception_survives_the_way_between_processes() -> None:
    failed = ExpectationsFailed(report(check(success=False)))
    again = pickle.loads(pickle.dumps(failed))  # noqa: S301 - our own bytes
    assert str(again) == str(failed) == failed.report.text()
