"""`muntin rebuild`: the batches that a changed definition has lost."""

from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.commands.backfill import parted, ranges, run_ranges, say_done
from muntin.cli.commands.run import command_of
from muntin.cli.place import placed
from muntin.cli.working import working

Candidate = Annotated[
    bool,
    typer.Option(
        "--candidate", help="Keep the new windows as a candidate beside the live windows; see diff, promote."
    ),
]


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
    until the new windows are complete; with
    --candidate until `muntin promote`, so that `muntin diff` can be read first. Batches without files
    are listed and left out; --allow-missing reads them as empty.

    Example:
      muntin rebuild dags/flights.py --root state
    """
    with working() as tell:
        from muntin.jobs.state.bound import bind
        from muntin.jobs.upkeep.rebuild import to_rebuild

        pipeline, folder = placed(file, name, root)
        todo, purged_batches = parted(to_rebuild(bind(pipeline, folder)), allow_missing=allow_missing)
        spans = [*ranges(todo)]
        link = command_of("rebuild", file, name, folder)
        options = {
            "validate": validate,
            "allow_missing": allow_missing,
            "dry_run": dry_run,
            "promoting": not candidate,
        }
        report = run_ranges(pipeline, folder, spans, spark, tell, link=link, **options) if spans else None
    return say_done(
        todo,
        purged_batches,
        report,
        none="every batch of the earlier state is there",
        dry_run=dry_run,
        as_json=as_json,
    )
