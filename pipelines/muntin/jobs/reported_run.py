"""Run a range, and tell its channels what was wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from muntin.definition.instants import instant_us
from muntin.definition.parts import Alerts
from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Interval
from muntin.errors import MuntinError
from muntin.files.paths import AnyPath
from muntin.jobs.records.reports import RunReport
from muntin.jobs.state.bound import Bound, bind


def run_and_tell(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    start: datetime,
    end: datetime,
    link: str,
    **options: Any,  # noqa: ANN401 - those of `run`
) -> RunReport:
    """Run as `run` does; if the definition declares alerts, the message of the run is sent when it has ended,
    well or not.

    `link`: the command that goes on, for the message. A channel that is down raises nothing: the report says
    so.
    """
    intervals = pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end"))
    return batches_and_tell(pipeline, root=root, intervals=intervals, link=link, named=True, **options)


def batches_and_tell(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    intervals: Sequence[Interval],
    link: str,
    **options: Any,  # noqa: ANN401 - those of `run_batches`
) -> RunReport:
    """`run_and_tell` of some batches, neighbours or not."""
    from muntin.jobs.run import run_batches

    try:
        report = run_batches(pipeline, root=root, intervals=intervals, **options)
    except Exception as wrong:
        # of an interval or a root that cannot be: the caller learns it from `wrong`
        with suppress(MuntinError):
            for bound, alerts in _listening(pipeline, root, intervals):
                alerts.failed(bound, intervals, wrong, link=link)
        raise
    return _reported(pipeline, root, intervals, report, link=link)


def publish_and_tell(pipeline: Pipeline, *, root: str | AnyPath, **options: Any) -> RunReport:  # noqa: ANN401 - those of `publish_approved`
    """Publish as `publish_approved` does; whoever was told of what the suite held is told who let it be
    published, and why.
    """
    from muntin.jobs.publish_approved import publish_approved

    report = publish_approved(pipeline, root=root, **options)
    first, last = report.batches[0].interval_start, report.batches[-1].interval_end
    intervals = pipeline.intervals.intervals(instant_us(first, "start"), instant_us(last, "end"))
    return _reported(pipeline, root, intervals, report, link="")


def _reported(
    pipeline: Pipeline,
    root: str | AnyPath,
    intervals: Sequence[Interval],
    report: RunReport,
    *,
    link: str,
) -> RunReport:
    """The report of a run that went well, with what became of its message."""
    lines = [
        line
        for bound, alerts in _listening(pipeline, root, intervals)
        for line in alerts.ended(bound, intervals, report, link=link)
    ]
    return replace(report, alerts=tuple(lines))


def _listening(
    pipeline: Pipeline, root: str | AnyPath, intervals: Sequence[Interval]
) -> Iterator[tuple[Bound, Alerts]]:
    """The state and the listener; nothing if the definition declares no alerts or there are no batches."""
    if pipeline.alerts is None or not intervals:
        return
    bound = bind(pipeline, root)
    if bound.alerts:
        yield bound, bound.alerts
