"""Which facts of a run are worth a message, by table; and when a problem is over."""

from dataclasses import replace
from typing import Any

import pytest

from muntin.extensions.alerts import to
from muntin.extensions.alerts.facts import Run
from muntin.extensions.alerts.findings import Finding, findings
from muntin.extensions.alerts.problems import recovered
from tests.alerts.made import batch, check, hole, hours, report, row, run

EXPECTED = "window day: expect_column_values_to_be_between(column='total', min_value=0)"


def told(run: Run, **options: Any) -> list[tuple[str, str, str, str]]:
    return [(one.kind, one.severity, one.what, one.observed) for one in findings(to("alerts", **options), run)]


def test_a_run_that_is_well_has_none() -> None:
    assert told(run(quality=(report(check(success=True)),)), quarantined=0, late=0) == []


def test_each_failed_check_with_expected_and_observed_gravest_first() -> None:
    quality = (
        report(check("warning", unexpected_count=None, observed_value=7), check("info"), check(success=None)),
        report(check(), check(error="no column 'total'", column="x"), window="hour"),
    )
    assert told(run(quality=quality, published=None)) == [
        ("check", "critical", EXPECTED.replace("day", "hour"), "1 row not as expected (12.5 %)"),
        ("check", "critical", EXPECTED.replace("day", "hour"), "could not run: no column 'total'"),
        ("check", "warning", EXPECTED, "observed 7"),
    ]


def test_warnings_only_if_asked() -> None:
    quality = (report(check("warning")),)
    assert [one[0] for one in told(run(quality=quality))] == ["check"]
    assert told(run(quality=quality), warnings=False) == []


def test_a_run_that_failed_without_a_verdict_says_why() -> None:
    failed = run(published=None, failure="SourceError: no file at x")
    assert told(failed) == [("failure", "critical", "the run failed", "SourceError: no file at x")]


@pytest.mark.parametrize(
    ("refused", "limit", "is_told"), [(1, 0.01, False), (2, 0.01, True), (0, 0, False), (1, 0, True), (99, None, False)]
)
def test_quarantine_above_a_share_of_the_rows(refused: int, limit: float | None, is_told: bool) -> None:
    found = told(run(batches=(batch(0, 100, refused),)), quarantined=limit)
    assert [one[0] for one in found] == ["quarantined"] * is_told
    if is_told and refused == 2:
        assert found[0][2:] == ("quarantined rows above 1 %", "2 of 100 rows (2 %)")


@pytest.mark.parametrize(("late", "limit", "is_told"), [(5, 0.05, False), (6, 0.05, True), (None, 0, False), (6, None, False)])
def test_late_rows_above_a_share(late: int | None, limit: float | None, is_told: bool) -> None:
    assert [one[0] for one in told(run(batches=(batch(0, 100, 0, late),)), late=limit)] == ["late"] * is_told


@pytest.mark.parametrize(
    ("before", "now", "places"),
    [
        # rows of the batches before, and of this run's; three must have had rows
        ([5, 5, 5], [0], [3]),
        ([5, 5], [0], []),
        ([5, 0, 5], [0], []),
        ([0, 5, 5, 5], [0], [4]),
        ([], [5, 5, 5, 0, 0, 5], [3]),
        ([5, 5, 5], [5], []),
    ],
)
def test_an_empty_batch_where_the_batches_before_had_rows(before: list[int], now: list[int], places: list[int]) -> None:
    first = len(before)
    history = tuple((hours(at).start_us, rows) for at, rows in enumerate(before))
    batches = tuple(batch(first + at, rows) for at, rows in enumerate(now))
    found = findings(to("alerts", empty_after=3), run(first, first + len(now), batches=batches, before=history))
    assert [(one.kind, one.interval) for one in found] == [("empty", hours(at)) for at in places]
    assert not findings(to("alerts", empty_after=None), run(batches=batches, before=history))


@pytest.mark.parametrize(("age", "after", "is_told"), [(2, 3, False), (3, 3, True), (4, 3, True), (9, None, False)])
def test_a_hole_is_told_when_it_is_old(age: int, after: int | None, is_told: bool) -> None:
    found = findings(to("alerts", hole_after=after), run(missing=(hole(1, 2, age),)))
    assert [(one.kind, one.interval) for one in found] == [("hole", hours(1))] * is_told


def test_masked_columns_are_replaced_in_rows_and_in_what_was_observed() -> None:
    quality = (report(check(failing_rows=[row("ann@example.com", -1)])),)
    (who,) = findings(to("alerts", mask=["WHO"]), run(quality=quality))
    assert [one["who"] for one in who.rows] == ["***"]
    assert who.rows[0]["total"] == -1

    seen = report(check(unexpected_count=None, observed_value=-77, failing_rows=[]), check(error="cannot cast -77", failing_rows=[]))
    for mask in (["total"], ["who", "total"]):
        hidden = findings(to("alerts", mask=mask), run(quality=(seen,)))
        assert not any("77" in one.observed for one in hidden)
    assert any("77" in one.observed for one in findings(to("alerts", mask=["who"]), run(quality=(seen,))))


def test_of_a_check_without_a_column_nothing_is_shown_where_columns_are_masked() -> None:
    whole = check(type="unexpected_rows_expectation", column=None, error="cannot cast ann@example.com", failing_rows=[])
    counted = check(type="expect_table_row_count_to_equal", column=None, unexpected_count=None, observed_value=3, failing_rows=[])
    found = [one.observed for one in findings(to("alerts", mask=["who"]), run(quality=(report(whole, counted),)))]
    assert found == ["could not run", "observed 3"]


def test_findings_go_through_json() -> None:
    (one,) = findings(to("alerts"), run(quality=(report(check()),)))
    assert Finding.of_dict(one.to_dict()) == one


CHECK = Finding("check", "critical", EXPECTED, "", hours(3))
WARNED = Finding("check", "warning", EXPECTED, "", hours(3))
LONG = Finding("failure", "critical", "the run failed", "", hours(3, 6))
FAILURE = Finding("failure", "critical", "the run failed", "", hours(3))
SHARE = Finding("quarantined", "warning", "quarantined rows above 1 %", "", hours(3))
LATE = Finding("late", "warning", "late rows above 1 %", "", hours(3))
EMPTY = Finding("empty", "warning", "an empty batch", "", hours(3))
HOLE = Finding("hole", "warning", "a missing interval", "", hours(3))
PASSED = report(check(success=True))


@pytest.mark.parametrize(
    ("problem", "after", "is_over"),
    [
        (CHECK, run(4, quality=(PASSED,)), False),  # of other windows
        (
            CHECK,
            run(4, quality=(PASSED,), published={"day": (hours(3).start_us, hours(4).start_us)}),
            True,
        ),  # what waits is checked together
        (CHECK, run(4, quality=(PASSED,), published={"hour": (hours(3).start_us,)}), False),
        (CHECK, run(4, quality=(report(check(success=None)),), published={"day": (hours(3).start_us,)}), False),  # no rows: nobody looked
        (CHECK, run(3, published={}), True),  # nothing waits any more: the windows are again what is published
        (CHECK, run(0, 9, quality=(PASSED,)), True),
        (CHECK, run(3, published=None, failure="x"), False),
        (WARNED, run(4, quality=(PASSED,)), True),
        (WARNED, run(2, quality=(PASSED,)), False),  # an older interval says nothing of it
        (WARNED, run(4), False),  # nothing was staged, so nothing was checked
        (WARNED, run(4, quality=(report(check(success=None)),)), False),
        (FAILURE, run(3), True),
        (FAILURE, run(0, 9), True),
        (LONG, run(3), False),  # a part of it
        (LONG, run(3, 6), True),
        (FAILURE, run(4), False),
        (FAILURE, run(3, published=None, failure="x"), False),
        (SHARE, run(4), True),
        (SHARE, run(2), False),  # an older batch says nothing of it
        (SHARE, run(4, batches=(batch(4, 0),)), False),
        (LATE, run(4), True),
        (LATE, run(4, batches=(batch(4, late=None),)), False),  # it waits for an interval before it
        (EMPTY, run(4), True),
        (EMPTY, run(4, batches=(batch(4, 0),)), False),
        (HOLE, run(9), True),
        (HOLE, run(9, missing=(hole(2, 5, 6),)), False),
        (HOLE, run(9, missing=(hole(5, 6, 6),)), True),
        (HOLE, run(9, published=None, failure="x", missing=None), False),
    ],
)
def test_when_a_problem_is_over(problem: Finding, after: Run, is_over: bool) -> None:
    assert recovered([problem], after, ()) == (replace(problem, observed=str(after.interval)),) * is_over


def test_a_problem_that_is_met_again_is_not_over() -> None:
    again = run(4, batches=(batch(4, 100, 50),))
    found = findings(to("alerts", quarantined=0.01), again)
    assert recovered([SHARE], again, found) == ()
