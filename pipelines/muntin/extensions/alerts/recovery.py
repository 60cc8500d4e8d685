"""Recovery: reported problems that are over. Pure, from the problems and a run that came after them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.extensions.alerts.findings import expected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muntin.definition.schedule import Interval
    from muntin.extensions.alerts.facts import Run
    from muntin.extensions.alerts.findings import Finding


def recovered(
    reported_problems: Iterable[Finding], run: Run, run_findings: Sequence[Finding]
) -> tuple[Finding, ...]:
    """The reported problems that are over, as this run shows; `run_findings` says where it is well."""
    now = {finding.key for finding in run_findings}
    well = str(run.interval)
    over = [
        replace(problem, observed=well)
        for problem in reported_problems
        if problem.key not in now and _is_over(problem, run)
    ]
    return tuple(sorted(over, key=lambda one: one.interval))


def approved(reported_problems: Iterable[Finding], run: Run) -> tuple[Finding, ...]:
    """The reported problems that a person has ended by an approval: their windows are published, and the data
    is as it was.
    """
    windows = [f"window {window}: " for each in run.approved for window in each["windows"]]
    held = [
        problem
        for problem in reported_problems
        if problem.kind == "check" and problem.is_held and problem.what.startswith((*windows, "\0"))
    ]
    return tuple(
        problem
        for problem in held
        if problem.what not in _passed(run) and (_is_own(problem, run) or _is_published(problem, run))
    )


def _is_over(problem: Finding, run: Run) -> bool:
    """Whether windows that were held are published; or, of a problem that held nothing, whether a later
    interval is well.
    """
    at = problem.interval.start_us
    if problem.kind == "hole":
        return run.missing is not None and not any(_covers(hole.interval, at) for hole in run.missing)
    if problem.is_held:
        return not run.failed and (
            _is_own(problem, run) or (problem.kind == "check" and _published(problem, run))
        )
    if problem.kind == "check":
        return problem.what in _passed(run) and run.interval.start_us >= at
    since = [batch for batch in run.batches if batch.read and batch.interval.start_us >= at]
    return any(batch.late is not None for batch in since) if problem.kind == "late" else bool(since)


def _published(problem: Finding, run: Run) -> bool:
    """Whether a run of another interval published the windows that a failed check had held, as what waits is
    checked together.
    """
    return problem.what in _passed(run) and _is_published(problem, run)


def _is_published(problem: Finding, run: Run) -> bool:
    own = [
        starts
        for window, starts in (run.published or {}).items()
        if problem.what.startswith(f"window {window}: ")
    ]
    return any(_covers(problem.interval, start) for starts in own for start in starts)


def _is_own(problem: Finding, run: Run) -> bool:
    return (
        run.interval.start_us <= problem.interval.start_us and problem.interval.end_us <= run.interval.end_us
    )


def _covers(interval: Interval, instant_us: int) -> bool:
    return interval.start_us <= instant_us < interval.end_us


def _passed(run: Run) -> set[str]:
    """The expectations of the checks that passed in a run."""
    return {
        expected(report["window"], check)
        for report in run.quality
        for check in report["checks"]
        if check["success"]
    }
