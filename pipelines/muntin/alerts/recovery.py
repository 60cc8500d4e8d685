"""Recovery: reported problems that are over. Pure, from the problems and a run that came after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.alerts.findings import expected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muntin.alerts.facts import Run
    from muntin.alerts.findings import Finding
    from muntin.definition.schedule import Interval


def recovered(told: Iterable[Finding], run: Run, found: Sequence[Finding]) -> tuple[Finding, ...]:
    """The reported problems that this run checked and did not find again."""
    now = {finding.key for finding in found}
    return tuple(problem for problem in told if problem.key not in now and _is_over(problem, run))


def _is_over(problem: Finding, run: Run) -> bool:
    if problem.kind == "check":
        return problem.what in _passed(run)
    at = problem.interval.start_us
    if problem.kind == "hole":
        return run.missing is not None and not any(_covers(hole.interval, at) for hole in run.missing)
    if problem.kind == "failure":
        return not run.failed and _covers(run.interval, at)
    since = [batch for batch in run.batches if batch.read and batch.interval.start_us >= at]
    return any(batch.late is not None for batch in since) if problem.kind == "late" else bool(since)


def _covers(interval: Interval, instant_us: int) -> bool:
    return interval.start_us <= instant_us < interval.end_us


def _passed(run: Run) -> set[str]:
    """The expectations of the checks that passed in a run."""
    return {expected(report["window"], check) for report in run.quality for check in report["checks"] if check["success"]}
