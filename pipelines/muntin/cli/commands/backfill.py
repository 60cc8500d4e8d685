"""`muntin backfill`: the batches of a range that are missing or whose source changed."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.borders import borders
from muntin.cli.commands.run import command_of, say_report, status_of
from muntin.cli.exported import exported
from muntin.cli.output import columns, say, say_json, stretches
from muntin.cli.place import placed
from muntin.cli.quiet import say_what_was_done
from muntin.cli.tasks import say_where
from muntin.cli.working import Tell, working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.records.reports import RunReport
    from muntin.jobs.upkeep.outdated import Outdated

_KEPT = "they were left as they are; --allow-missing takes their rows out of the windows"
_READ = "every batch was read; only Spark can tell whether its rows have changed: --all reads them again"
All = Annotated[bool, typer.Option("--all", help="Every batch of the range, changed or not.")]


def backfill(
    file: opt.File,
    start: opt.Start,
    end: opt.End,
    root: opt.Root = None,
    name: opt.Name = None,
    everything: All = False,
    validate: opt.Validate = True,
    allow_missing: opt.AllowMissing = False,
    spark: opt.Spark = None,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> int:
    """Run the batches that are missing or changed.

    Batches from START to END that were never read, or whose files have changed; batches that were read and
    not published are published. A batch that had rows and has no file any more stays as it is, unless
    --allow-missing empties it.

    Example:
      muntin backfill dags/flights.py --root state --start 2013-01-01 --end 2014-01-01
    """
    with working() as tell:
        from muntin.jobs.upkeep.outdated import outdated

        pipeline, folder = placed(file, name, root)
        start, end = borders(pipeline, start, end)
        todo, purged_batches = parted(
            outdated(pipeline, root=folder, start=start, end=end, everything=everything),
            allow_missing=allow_missing,
        )
        spans = [*ranges(todo)] or _left_over(pipeline, folder, start)
        link = command_of("backfill", file, name, folder, start, end)
        options = {"validate": validate, "allow_missing": allow_missing, "dry_run": dry_run}
        report = run_ranges(pipeline, folder, spans, spark, tell, link=link, **options) if spans else None
    none = _READ if hasattr(pipeline.source, "read") else "every batch is what its source is now"
    return say_done(todo, purged_batches, report, none=none, dry_run=dry_run, as_json=as_json)


def parted(
    outdated_batches: "Sequence[Outdated]", *, allow_missing: bool
) -> "tuple[list[Outdated], list[Outdated]]":
    """The batches to read, and the batches that stay as they are since no file has their rows any more."""
    purged_batches = [one for one in outdated_batches if one.purged and not allow_missing]
    return [one for one in outdated_batches if one not in purged_batches], purged_batches


def ranges(todo: "Sequence[Outdated]") -> Iterator[tuple[datetime, datetime]]:
    """The batches as ranges of neighbours."""
    first = 0
    for at, batch in enumerate(todo):
        if at + 1 == len(todo) or todo[at + 1].interval_start != batch.interval_end:
            yield todo[first].interval_start, batch.interval_end
            first = at + 1


def _left_over(pipeline: "Pipeline", root: "AnyPath", start: datetime) -> list[tuple[datetime, datetime]]:
    """An empty range, if batches that were read before still have windows to publish: a
    run of it does that.
    """
    from muntin.jobs.inspect.plan import plan

    planned = plan(pipeline, root=root, start=start, end=start, validate=False)
    return [(start, start)] if any(planned.windows.values()) else []


def run_ranges(
    pipeline: "Pipeline",
    root: "AnyPath",
    spans: Sequence[tuple[datetime, datetime]],
    url: str | None,
    tell: Tell,
    *,
    link: str,
    validate: bool,
    allow_missing: bool,
    dry_run: bool,
    promoting: bool = True,
) -> "RunReport | None":
    """Run each range in bulk, on one runner; one report and one alert over all. None if only the definition
    is to be checked.

    `link` is the command that goes on, for the alert.
    """
    from muntin.jobs.check import check_range
    from muntin.jobs.publish.spark_needed import spark_needed
    from muntin.jobs.reported_run import failure_reported, reported
    from muntin.jobs.run import run
    from muntin.tasks import runner_for

    for start, end in spans:
        check_range(pipeline, root=root, start=start, end=end, validate=validate, allow_missing=allow_missing)
    if dry_run:
        return None
    one_range = partial(
        run, pipeline, root=root, validate=validate, allow_missing=allow_missing, promoting=promoting
    )
    say_where(pipeline, url, validate=validate)
    with exported(), runner_for(url, needed=spark_needed(pipeline, validate=validate)) as runner:
        reports = []
        for a, b in spans:
            with failure_reported(pipeline, root, a, b, link=link):
                reports.append(one_range(start=a, end=b, spark=runner, progress=_placed(tell, a, b)))
    return reported(pipeline, root, spans[0][0], spans[-1][1], _joined(reports), link=link)


def _placed(tell: Tell, start: datetime, end: datetime) -> Tell:
    return lambda step: tell(f"{step} [{start:%Y-%m-%d %H:%M}, {end:%Y-%m-%d %H:%M})")


def _joined(reports: "Sequence[RunReport]") -> "RunReport":
    from muntin.jobs.records.reports import RunReport

    windows = {name for report in reports for name in report.published}
    return RunReport(
        tuple(batch for report in reports for batch in report.batches),
        reports[-1].waiting_for,
        {
            name: tuple(sorted({at for report in reports for at in report.published.get(name, ())}))
            for name in sorted(windows)
        },
        tuple(one for report in reports for one in report.quality),
        remarks=tuple(one for report in reports for one in report.remarks),
        promoted=tuple(sorted({name for report in reports for name in report.promoted})),
        candidates=reports[-1].candidates,
        changed={
            name: tuple(part for report in reports for part in report.changed.get(name, ()))
            for name in sorted(windows)
        },
        sinks=tuple(line for report in reports for line in report.sinks),
        blocked_sinks=reports[-1].blocked_sinks,
    )


def say_done(
    todo: "Sequence[Outdated]",
    purged_batches: "Sequence[Outdated]",
    report: "RunReport | None",
    *,
    none: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Say the batches that were read and why, the batches that were left, and the result of the run; return
    the exit status.

    `none`: what is said if no batch was read.
    """
    if as_json:
        document = {
            "batches": [_plain(one) for one in todo],
            "purged": [_plain(one) for one in purged_batches],
        }
        say_json(document | {"report": report.to_dict() if report else None})
        return status_of(report)
    tell = say if dry_run else say_what_was_done
    if todo:
        tell(columns(["batch (UTC)", "why"], [[one.interval_start, one.reason] for one in todo]))
        tell(f"would read {many(len(todo), 'batch')}" if dry_run else f"{many(len(todo), 'batch')} read\n")
    if purged_batches:
        holes = stretches([(one.interval_start, one.interval_end) for one in purged_batches])
        tell(
            f"purged: {holes}: {many(len(purged_batches), 'batch')} that rows were read of and that have no"
            f" file any more; {_KEPT}\n"
        )
    if not todo and not purged_batches:
        tell(none)
    if report:
        say_report(report)
    return status_of(report)


def _plain(one: "Outdated") -> dict[str, object]:
    """A batch for machines."""
    return {"interval_start": one.interval_start, "interval_end": one.interval_end, "reason": one.reason}
