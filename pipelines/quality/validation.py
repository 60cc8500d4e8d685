"""Hold staged windows against a suite: verdicts first, in as few Spark jobs as can be; numbers and rows on failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipelines.quality import gx
from pipelines.quality.report import Check, QualityReport
from pipelines.quality.staged_frame import ROW_NUMBER, fetch, staged
from pipelines.quality.suite import Expectation

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from pipelines.quality.suite import Suite

Row = Mapping[str, object]
PERIOD = ("window_start", "window_end")


def validate(
    spark: SparkSession,
    suite: Suite,
    *,
    files: Sequence[str | Path],
    window: str,
    keys: Sequence[str],
    rows: int,
) -> QualityReport:
    """Check the staged Parquet files of one window with Great Expectations.

    `files` hold the key columns, `window_start`, `window_end`, the aggregates and `batch`; `rows` is how many rows
    were staged in them: files that hold another number fail. With no rows, only expectations on the number of rows
    are run, and a suite without one yields a warning.

    Raises:
        SuiteError: the suite names an expectation or an argument that does not exist.
    """
    paths = [str(path) for path in files]
    guarded = replace(suite, expectations=(*suite.expectations, _all_rows_there(rows)))
    built = gx.build(guarded)
    with staged(spark, paths, rows=rows) as frame:
        columns = [name for name in frame.columns if name != ROW_NUMBER]
        told = _missing_columns(guarded, columns) if rows and paths else _unasked(guarded, empty=not (rows or paths))
        asked = [each for n, each in enumerate(built) if n not in told]
        outcomes = told | _judged(spark, frame, asked)
        rows_of = _failing_rows(frame, guarded, outcomes, [*keys, *PERIOD])
    checks = [_check(each, outcomes[n], rows_of.get(n, ())) for n, each in enumerate(guarded.expectations)]
    return QualityReport(window, rows, _without_passed_guard(checks, rows), tuple(paths))


def _all_rows_there(rows: int) -> Expectation:
    """The guard, the last check of every run: it costs nothing, Great Expectations counts the rows anyway."""
    return Expectation("expect_table_row_count_to_equal", {"value": rows})


def _without_passed_guard(checks: Sequence[Check], rows: int) -> tuple[Check, ...]:
    *asked, guard = checks
    if guard.success is not False:
        return tuple(asked)
    found = guard.observed_value if guard.error is None else "an unknown number of"
    return *asked, replace(guard, observed_value=f"{found} rows in the staged files, where {rows} were staged")


def _unasked(suite: Suite, *, empty: bool) -> dict[int, gx.Outcome]:
    """Without rows only what speaks of their number is asked; the guard too, unless there are no files either."""
    last = len(suite.expectations) - 1
    skip = [n for n, each in enumerate(suite.expectations) if not each.counts_rows or (empty and n == last)]
    return dict.fromkeys(skip, gx.Outcome(success=None))


def _judged(spark: SparkSession, frame: DataFrame, asked: Sequence[Any]) -> dict[int, gx.Outcome]:
    """Verdicts first; numbers and rows only of what failed."""
    bare = frame.drop(ROW_NUMBER)
    outcomes = gx.judge(spark, bare, asked, gx.BOOLEAN)
    failed = [each for each in asked if outcomes[gx.position(each)].failed]
    for kind, (seen, form) in _second_looks(frame, bare).items():
        some = [each for each in failed if gx.kind(each) == kind]
        for n, outcome in gx.judge(spark, seen, some, form).items():
            outcomes[n] = replace(outcomes[n], result=outcome.result)
    return outcomes


def _second_looks(numbered: DataFrame, bare: DataFrame) -> dict[str, tuple[DataFrame, Mapping[str, object]]]:
    """By kind of expectation: the frame to look at again and what to ask for; single rows can be named."""
    return {
        "rows": (numbered, gx.NUMBERS_AND_ROWS),
        "query": (numbered, gx.QUERIED_ROWS),
        "table": (bare, gx.NUMBERS),
    }


def _missing_columns(suite: Suite, columns: Sequence[str]) -> dict[int, gx.Outcome]:
    """A column that is not there, said at once: Great Expectations would try each of its metrics three times."""
    told = {}
    for n, each in enumerate(suite.expectations):
        absent = [name for name in each.columns if name not in columns and name.partition(".")[0] not in columns]
        if absent and each.type != "expect_column_to_exist":
            error = f"no column {', '.join(map(repr, absent))} in the staged files; they have {', '.join(columns)}"
            told[n] = gx.Outcome(success=False, error=error)
    return told


def _failing_rows(
    frame: DataFrame, suite: Suite, outcomes: Mapping[int, gx.Outcome], identity: Sequence[str]
) -> dict[int, tuple[Row, ...]]:
    """Rows of the staged files for each failed check that names some, `MAX_ROWS` over all checks."""
    named = {n: numbers for n, outcome in sorted(outcomes.items()) if (numbers := gx.row_numbers(outcome.result))}
    found = fetch(frame, {number for numbers in named.values() for number in numbers})
    share = max(1, gx.MAX_ROWS // max(1, len(named)))
    return {
        n: _shown([found[number] for number in numbers if number in found], identity, suite.expectations[n])[:share]
        for n, numbers in list(named.items())[: gx.MAX_ROWS]
    }


def _shown(rows: Sequence[Row], identity: Sequence[str], expectation: Expectation) -> tuple[Row, ...]:
    """Keys, period and the columns concerned (all, where an expectation names none), in order of keys and time."""
    cut = [{name: row[name] for name in dict.fromkeys([*identity, *(expectation.columns or row)]) if name in row} for row in rows]
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
