"""`muntin run`: what there is to do, or the batches of a range, from source to published windows."""

from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.options import borders
from muntin.cli.output import say_json
from muntin.cli.place import placed, say_where
from muntin.cli.ranges import NOTHING, read_batches, say_work, to_do
from muntin.cli.report import command_of, exported, say_report, status_of
from muntin.cli.working import working

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
    two, what there is to do from START on, or before END. With both, all batches between: they replace what
    was read before. A batch that had rows and has no file any more stays as it is, and is an error between
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
            batches = to_do(pipeline, folder, first, last)
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
