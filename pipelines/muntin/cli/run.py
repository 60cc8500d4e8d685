"""`muntin run`: what there is to do, or the batches of a range, from source to published windows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from muntin.cli import options as opt
from muntin.cli.options import borders
from muntin.cli.output import columns, say, say_json, say_what_was_done, size, stretches
from muntin.cli.place import placed, say_where
from muntin.cli.report import SHOWN, command_of, exported, say_report, status_of
from muntin.cli.working import Tell, working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.records.reports import RunReport
    from muntin.jobs.upkeep.outdated import Outdated

NOTHING = "nothing to do: every batch that is there was read as it is now, and is published"
_STAY = "they were left as they are; --allow-missing takes their rows out of the windows"


class Work(NamedTuple):
    """The batches of a run, and its report.

    Attributes:
        read: the batches that were read.
        left: the batches that stay as they are: no file has their rows any more, or yet.
        report: of the run; None if nothing was run.
        sizes, seconds: start of a batch -> the bytes that a run would read, and about how long it takes.
    """

    read: "Sequence[Outdated]"
    left: "Sequence[Outdated]"
    report: "RunReport | None"
    sizes: "Mapping[datetime, int]" = MappingProxyType({})
    seconds: float | None = None


def to_do(
    pipeline: "Pipeline", root: "AnyPath", start: datetime | None, end: datetime | None, *, ask: bool = False
) -> "list[Outdated]":
    """The batches that a run up to now has to read or to publish. `ask`: functions are asked for rows."""
    from muntin.jobs.records.reports_table import utc_now
    from muntin.jobs.upkeep.to_do import to_do

    return to_do(pipeline, root=root, now=utc_now(), start=start, end=end, ask=ask)


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
    """Read batches in bulk, whether neighbours or not. With `dry_run` only the definition is checked.

    `link` is the command that goes on, for the alert. `unpublished`: windows of batches that were read before
    are published, too.
    """
    from muntin.jobs.check import check
    from muntin.jobs.reported_run import batches_and_tell
    from muntin.jobs.state.bound import bind
    from muntin.jobs.upkeep.to_do import cost_of, intervals_of, parted
    from muntin.jobs.upkeep.to_do import unpublished as has_unpublished

    todo, left = parted(outdated_batches, allow_missing=allow_missing)
    intervals, options = intervals_of(todo), {"validate": validate, "allow_missing": allow_missing}
    if intervals:
        check(bind(pipeline, root), intervals, columns=True, **options)
    if dry_run and intervals:
        return Work(todo, left, None, *cost_of(pipeline, root, todo, allow_missing=allow_missing))
    if dry_run or not (intervals or (unpublished and has_unpublished(pipeline, root))):
        return Work(todo, left, None)
    say_where(pipeline, url, validate=validate)
    with exported():
        report = batches_and_tell(
            pipeline,
            root=root,
            intervals=intervals,
            link=link,
            spark=url,
            progress=tell,
            promoting=promoting,
            **options,
        )
    return Work(todo, left, report)


def say_work(work: Work, *, none: str, dry_run: bool = False, as_json: bool = False) -> int:
    """Say the batches that were read and why, the batches that were left, and the result of the run; return
    the exit status.

    `none`: what is said if no batch was read.
    """
    purged = [one for one in work.left if one.purged]
    absent = [one for one in work.left if not one.purged]
    if as_json:
        parts = {"batches": work.read, "purged": purged, "not_there": absent}
        document = {name: [_plain(one, work.sizes) for one in batches] for name, batches in parts.items()}
        estimate = {"seconds": work.seconds} if dry_run else {}
        say_json(document | {"report": work.report.to_dict() if work.report else None} | estimate)
        return status_of(work.report)
    tell = say if dry_run else say_what_was_done
    if work.read:
        sizes = [[size(work.sizes[one.interval_start])] if dry_run else [] for one in work.read]
        rows = [
            [one.interval_start, *cells, one.reason]
            for one, cells in zip(work.read[:SHOWN], sizes, strict=False)
        ]
        tell(columns(["batch (UTC)", *(["bytes"] if dry_run else []), "why"], rows))
        if more := len(work.read) - len(rows):
            tell(f"... {many(more, 'batch')} more; --json has them all")
        count = many(len(work.read), "batch")
        tell(f"would read {count}, {_estimated(work)}" if dry_run else f"{count} read\n")
    if purged:
        span = stretches([(one.interval_start, one.interval_end) for one in purged])
        tell(
            f"purged: {span}: {many(len(purged), 'batch')} that rows were read of and that have no file any"
            f" more; {_STAY}\n"
        )
    if absent:
        span = stretches([(absent[0].interval_start, absent[-1].interval_end)])
        tell(f"not read: {many(len(absent), 'batch')} in {span}; the first: {absent[0].reason}")
    if not work.read and not purged and not work.report:
        tell(none)
    if work.report:
        say_report(work.report)
    return status_of(work.report)


def _estimated(work: Work) -> str:
    """The bytes that a run would read, and how long that takes by the batches before."""
    volume = size(sum(work.sizes.values()))
    if work.seconds is None:
        return volume
    return f"{volume}, in about {max(1, round(work.seconds)):,} s by the last batches"


def _plain(one: "Outdated", sizes: "Mapping[datetime, int]") -> dict[str, object]:
    start = one.interval_start
    volume = {"bytes": sizes[start]} if start in sizes else {}
    return {"interval_start": start, "interval_end": one.interval_end, "reason": one.reason, **volume}


STEPS = ("accumulate", "finalize", "validate", "publish")
Candidate = Annotated[
    bool,
    typer.Option(
        "--candidate",
        help="Keep the new windows as a candidate beside the live windows; see plan --diff, promote.",
    ),
]


def run(
    file: opt.File,
    start: opt.Start = None,
    end: opt.End = None,
    root: opt.Root = None,
    name: opt.Name = None,
    validate: opt.Validate = True,
    allow_missing: opt.AllowMissing = False,
    spark: opt.Spark = None,
    as_json: opt.Json = False,
) -> int:
    """Run what there is to do, or the batches from START to END.

    Without START and END all that there is to do up to now: batches that were never read, whose files have
    changed, or that an earlier definition had read, and windows that are not published yet. With one of the
    two, what there is to do from START on, or before END. With both, all batches between, and what has
    changed before. A batch that had rows and has no file any more stays as it is, and is an error between
    START and END; --allow-missing makes it empty. Alerts of the definition go to AIRFLOW_CONN_ALERTS of the
    environment.

    Example:
      muntin run dags/flights.py --root state
      muntin run dags/flights.py --root state --start 2013-01-01 --end 2013-02-01
    """
    with working(*STEPS) as tell:
        pipeline, folder = placed(file, name, root)
        first, last = borders(pipeline, start, end)
        options = {"validate": validate, "allow_missing": allow_missing}
        if first is None or last is None:
            link = command_of("run", file, name, folder)
            batches = to_do(pipeline, folder, first, last, ask=True)
            work = read_batches(
                pipeline, folder, batches, spark, tell, link=link, unpublished=True, **options
            )
        else:
            from muntin.jobs.reported_run import run_and_tell

            work, link = None, command_of("run", file, name, folder, first, last)
            say_where(pipeline, spark, validate=validate)
            with exported():
                report = run_and_tell(
                    pipeline,
                    root=folder,
                    start=first,
                    end=last,
                    link=link,
                    spark=spark,
                    progress=tell,
                    **options,
                )
    if work:
        return say_work(work, none=NOTHING, as_json=as_json)
    if as_json:
        say_json(report.to_dict())
    else:
        say_report(report, f"state: {folder / pipeline.name}")
    return status_of(report)


def rebuild(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    validate: opt.Validate = True,
    allow_missing: opt.AllowMissing = False,
    candidate: Candidate = False,
    spark: opt.Spark = None,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> int:
    """Read again what an earlier definition had read.

    After a change of the definition that needs other states, such as a new aggregate: in bulk, the batches
    that the newest earlier state has and the present state does not have. Readers see the earlier windows
    until the new windows are complete; with --candidate until `muntin promote`, so that `muntin plan --diff`
    can be read first. Batches without files are listed and left out; --allow-missing reads them as empty.

    Example:
      muntin run --rebuild dags/flights.py --root state
    """
    with working() as tell:
        from muntin.jobs.state.bound import bind
        from muntin.jobs.upkeep.rebuild import to_rebuild

        pipeline, folder = placed(file, name, root)
        options = {
            "validate": validate,
            "allow_missing": allow_missing,
            "dry_run": dry_run,
            "promoting": not candidate,
        }
        link, batches = command_of("run --rebuild", file, name, folder), to_rebuild(bind(pipeline, folder))
        work = read_batches(pipeline, folder, batches, spark, tell, link=link, **options)
    return say_work(work, none="every batch of the earlier state is there", dry_run=dry_run, as_json=as_json)
