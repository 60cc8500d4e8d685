"""`muntin rebuild`: the batches that a changed definition has lost."""

from pipelines.cli import options as opt
from pipelines.cli.backfill import parted, ranges, run_ranges, say_done
from pipelines.cli.place import placed
from pipelines.cli.working import working


def rebuild(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    validate: opt.Validate = True,
    forget: opt.Forget = False,
    spark: opt.Spark = None,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> None:
    """Read again what an earlier definition had read.

    After a change of what states hold, as another aggregate whose fields are new: in bulk, the batches that the newest
    earlier state has and the present one lacks. Earlier windows stay where they are; vacuum never takes them. Batches that
    rows were read of and that have no file any more are listed and left out; --forget reads them as empty.

    Example:
      muntin rebuild dags/flights.py --root state
    """
    with working() as tell:
        from pipelines.jobs.upkeep.rebuild import to_rebuild

        pipeline, folder = placed(file, name, root)
        todo, kept = parted(to_rebuild(pipeline, root=folder), forget=forget)
        spans = [*ranges(todo)]
        report = run_ranges(pipeline, folder, spans, spark, tell, validate=validate, forget=forget, dry_run=dry_run) if spans else None
    say_done(todo, kept, report, none="every batch of the earlier state is there", dry_run=dry_run, as_json=as_json)
