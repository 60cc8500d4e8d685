"""Ranges of batches that a command reads, as one work with one report."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from muntin.cli.output import columns, say, say_json, say_what_was_done, stretches
from muntin.cli.place import say_where
from muntin.cli.report import SHOWN, exported, say_report, status_of
from muntin.cli.working import Tell
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.records.reports import RunReport
    from muntin.jobs.upkeep.outdated import Outdated

NOTHING = "nothing to do: every batch that is there was read as it is now, and is published"
_STAY = "they were left as they are; --allow-missing takes their rows out of the windows"


class Work(NamedTuple):
    """What became of batches.

    Attributes:
        read: the batches that were read.
        left: the batches that stay as they are: no file has their rows any more, or yet.
        report: of the run; None if nothing was run.
    """

    read: "Sequence[Outdated]"
    left: "Sequence[Outdated]"
    report: "RunReport | None"


def to_do(
    pipeline: "Pipeline", root: "AnyPath", start: datetime | None, end: datetime | None
) -> "list[Outdated]":
    """What there is to do up to now."""
    from muntin.jobs.records.reports_table import utc_now
    from muntin.jobs.upkeep.to_do import to_do

    return to_do(pipeline, root=root, now=utc_now(), start=start, end=end)


def read_batches(
    pipeline: "Pipeline",
    root: "AnyPath",
    outdated_batches: "Sequence[Outdated]",
    url: str | None,
    tell: Tell,
    *,
    link: str,
    validate: bool = True,
    allow_missing: bool = False,
    dry_run: bool = False,
    promoting: bool = True,
    unpublished: bool = False,
) -> Work:
    """Read batches, each range of neighbours in bulk, on one runner; one report and one alert over all. With
    `dry_run` only the definition is checked.

    `link` is the command that goes on, for the alert. `unpublished`: windows of batches that were read before
    are published, too.
    """
    from muntin.jobs.upkeep.to_do import parted, ranges

    todo, left = parted(outdated_batches, allow_missing=allow_missing)
    spans = ranges(pipeline, root, todo, unpublished=unpublished)
    report = None
    if spans:
        from muntin.jobs.check import check_range
        from muntin.jobs.run import run

        options = {"validate": validate, "allow_missing": allow_missing}
        for start, end in spans:
            check_range(pipeline, root=root, start=start, end=end, **options)
        one_range = partial(run, pipeline, root=root, promoting=promoting, **options)  # type: ignore[arg-type]
        if not dry_run:
            report = _run(pipeline, root, spans, url, tell, one_range, link=link, validate=validate)
    return Work(todo, left, report)


def _run(
    pipeline: "Pipeline",
    root: "AnyPath",
    spans: Sequence[tuple[datetime, datetime]],
    url: str | None,
    tell: Tell,
    one_range: "Callable[..., RunReport]",
    *,
    link: str,
    validate: bool,
) -> "RunReport":
    from muntin.jobs.publish.spark_needed import spark_needed
    from muntin.jobs.reported_run import failure_reported, reported
    from muntin.jobs.upkeep.to_do import joined
    from muntin.tasks import runner_for

    say_where(pipeline, url, validate=validate)
    with exported(), runner_for(url, needed=spark_needed(pipeline, validate=validate)) as runner:
        reports = []
        for a, b in spans:
            with failure_reported(pipeline, root, a, b, link=link):
                reports.append(one_range(start=a, end=b, spark=runner, progress=_placed(tell, a, b)))
    return reported(pipeline, root, spans[0][0], spans[-1][1], joined(reports), link=link)


def _placed(tell: Tell, start: datetime, end: datetime) -> Tell:
    return lambda step: tell(f"{step} [{start:%Y-%m-%d %H:%M}, {end:%Y-%m-%d %H:%M})")


def say_work(work: Work, *, none: str, dry_run: bool = False, as_json: bool = False) -> int:
    """Say the batches that were read and why, the batches that were left, and the result of the run; return
    the exit status.

    `none`: what is said if no batch was read.
    """
    purged = [one for one in work.left if one.purged]
    absent = [one for one in work.left if not one.purged]
    if as_json:
        parts = {"batches": work.read, "purged": purged, "not_there": absent}
        document = {name: [_plain(one) for one in batches] for name, batches in parts.items()}
        say_json(document | {"report": work.report.to_dict() if work.report else None})
        return status_of(work.report)
    tell = say if dry_run else say_what_was_done
    if work.read:
        rows = [[one.interval_start, one.reason] for one in work.read[:SHOWN]]
        tell(columns(["batch (UTC)", "why"], rows))
        if more := len(work.read) - len(rows):
            tell(f"... {many(more, 'batch')} more; --json has them all")
        count = many(len(work.read), "batch")
        tell(f"would read {count}" if dry_run else f"{count} read\n")
    if purged:
        tell(
            f"purged: {_holes(purged)}: {many(len(purged), 'batch')} that rows were read of and that have no"
            f" file any more; {_STAY}\n"
        )
    if absent:
        tell(f"not there yet: {_holes(absent)}: {many(len(absent), 'batch')}; the first: {absent[0].reason}")
    if not work.read and not purged and not work.report:
        tell(none)
    if work.report:
        say_report(work.report)
    return status_of(work.report)


def _holes(batches: "Sequence[Outdated]") -> str:
    return stretches([(one.interval_start, one.interval_end) for one in batches])


def _plain(one: "Outdated") -> dict[str, object]:
    """A batch for machines."""
    return {"interval_start": one.interval_start, "interval_end": one.interval_end, "reason": one.reason}
