"""Hold staged windows against a suite: first the verdicts, in few jobs; then numbers and
rows of what failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muntin.quality import gx
from muntin.quality.report import Check, QualityReport
from muntin.quality.suite import Expectation

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession

    from muntin.quality.gx import Frame
    from muntin.quality.suite import Suite

Row = Mapping[str, object]
PERIOD = ("window_start", "window_end")


def validate(
    spark: SparkSession | None,
    suite: Suite,
    *,
    files: Sequence[str | Path],
    window: str,
    keys: Sequence[str],
    rows: int,
) -> QualityReport:
    """Check the staged Parquet files of one window with Great Expectations; without a session, by pandas in
    this process.

    The files have the key columns, `window_start`, `window_end`, the aggregates and `batch`. They fail if
    they hold another number of rows than `rows`. Without rows, only expectations on the number of rows are
    run; a suite that has no such expectation yields a warning. An expectation that Spark alone judges is
    refused without a session; `needs_spark` tells of most before.
    """
    paths = [str(path) for path in files]
    # costs nothing: Great Expectations counts the rows anyway
    guard = Expectation("expect_table_row_count_to_equal", {"value": rows})
    guarded = replace(suite, expectations=(*suite.expectations, guard))
    built = gx.build(guarded)
    with _frame(spark, guarded, paths, rows) as frame:
        decided = (
            _missing_columns(guarded, frame.columns)
            if rows and paths
            else _unasked(guarded, empty=not (rows or paths))
        )
        asked = [expectation for n, expectation in enumerate(built) if n not in decided]
        outcomes = decided | _judged(frame, asked)
        rows_of = _failing_rows(frame, outcomes)
    share = max(1, gx.MAX_ROWS // max(1, len(rows_of)))
    shown = dict([*rows_of.items()][: gx.MAX_ROWS])
    checks = [
        _check(expectation, outcomes[n], _shown(shown.get(n, ())[:share], [*keys, *PERIOD], expectation))
        for n, expectation in enumerate(guarded.expectations)
    ]
    failing = _named(checks, rows_of, [*keys, *PERIOD, "batch"])
    return QualityReport(window, rows, _without_passed_guard(checks, rows), tuple(paths), failing)


def _named(
    checks: Sequence[Check], rows_of: Mapping[int, Sequence[Row]], identity: Sequence[str]
) -> tuple[Row, ...] | None:
    """The rows that fail a critical check, by key, time and batch; None where a check does not name all."""
    failed = [n for n, check in enumerate(checks) if check.success is False and check.severity == "critical"]
    if any(len(rows_of.get(n, ())) != checks[n].unexpected_count for n in failed):
        return None
    return tuple({name: row[name] for name in identity} for n in failed for row in rows_of[n])


def _frame(
    spark: SparkSession | None, suite: Suite, files: Sequence[str], rows: int
) -> AbstractContextManager[Frame]:
    if spark is None:
        from muntin.quality.pandas_frame import pandas_frame

        return pandas_frame(suite, files)
    from muntin.quality.spark_frame import spark_frame

    return spark_frame(spark, files, rows=rows)


def _without_passed_guard(checks: Sequence[Check], rows: int) -> tuple[Check, ...]:
    *asked, guard = checks
    if guard.success is not False:
        return tuple(asked)
    count = guard.observed_value if guard.error is None else "an unknown number of"
    return *asked, replace(
        guard, observed_value=f"{count} rows in the staged files, where {rows} were staged"
    )


def _unasked(suite: Suite, *, empty: bool) -> dict[int, gx.Outcome]:
    """The outcomes of a validation without rows for what is not asked: all but the expectations on the number
    of rows.

    The guard is asked, unless there are no files either (`empty`).
    """
    last = len(suite.expectations) - 1
    skip = [
        n
        for n, expectation in enumerate(suite.expectations)
        if not expectation.counts_rows or (empty and n == last)
    ]
    return dict.fromkeys(skip, gx.Outcome(success=None))


def _judged(frame: Frame, asked: Sequence[Any]) -> dict[int, gx.Outcome]:
    """The outcome of each expectation: first all verdicts, then numbers and rows of failed expectations."""
    outcomes = gx.judge(frame, asked, gx.BOOLEAN)
    failed = [expectation for expectation in asked if outcomes[gx.position(expectation)].failed]
    for kind, form in gx.SECOND_INSPECTIONS.items():
        of_kind = [expectation for expectation in failed if gx.kind(expectation) == kind]
        for n, outcome in gx.judge(frame, of_kind, form, numbered=kind != "table").items():
            outcomes[n] = replace(outcomes[n], result=outcome.result)
    return outcomes


def _missing_columns(suite: Suite, columns: Sequence[str]) -> dict[int, gx.Outcome]:
    """Failures of expectations on columns that the files lack.

    Great Expectations would try each of their metrics three times.
    """
    failures = {}
    for n, expectation in enumerate(suite.expectations):
        absent = [
            name
            for name in expectation.columns
            if name not in columns and name.partition(".")[0] not in columns
        ]
        if absent and expectation.type != "expect_column_to_exist":
            error = (
                f"no column {', '.join(map(repr, absent))} in the staged files; they have"
                f" {', '.join(columns)}"
            )
            failures[n] = gx.Outcome(success=False, error=error)
    return failures


def _failing_rows(frame: Frame, outcomes: Mapping[int, gx.Outcome]) -> dict[int, list[Row]]:
    """The rows of each failed check whose result names rows."""
    named = {
        n: numbers for n, outcome in sorted(outcomes.items()) if (numbers := gx.row_numbers(outcome.result))
    }
    row_of = frame.rows({number for numbers in named.values() for number in numbers})
    return {n: [row_of[number] for number in numbers if number in row_of] for n, numbers in named.items()}


def _shown(rows: Sequence[Row], identity: Sequence[str], expectation: Expectation) -> tuple[Row, ...]:
    """The rows by keys and time, with the expectation's columns; with all columns if it names none."""
    cut = [
        {name: row[name] for name in dict.fromkeys([*identity, *(expectation.columns or row)]) if name in row}
        for row in rows
    ]
    try:
        return tuple(sorted(cut, key=lambda row: [(value is not None, value) for value in row.values()]))
    except TypeError:
        return tuple(cut)


def _check(expectation: Expectation, outcome: gx.Outcome, rows: tuple[Row, ...]) -> Check:
    result = outcome.result
    return Check(
        type=expectation.type,
        column=", ".join(expectation.columns) or None,
        kwargs=expectation.kwargs,
        severity=expectation.severity,
        success=outcome.success,
        observed_value=result.get("observed_value"),
        unexpected_count=result.get("unexpected_count"),
        unexpected_percent=result.get("unexpected_percent"),
        error=outcome.error,
        failing_rows=rows,
    )
