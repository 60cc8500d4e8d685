"""`muntin rebuild`: the batches that a changed definition has lost."""

from pathlib import Path

from pipelines.cli import options as opt
from pipelines.cli.backfill import parted, ranges, run_ranges, say_done
from pipelines.cli.definition import load_pipeline
from pipelines.cli.working import working


def rebuild(
    file: opt.File,
    root: opt.Root = Path("state"),
    name: opt.Name = None,
    validate: opt.Validate = True,
    forget: opt.Forget = False,
    spark: opt.Spark = None,
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

        pipeline = load_pipeline(file, name)
        todo, kept = parted(to_rebuild(pipeline, root=root), forget=forget)
        report = run_ranges(pipeline, root, [*ranges(todo)], spark, tell, validate=validate, forget=forget) if todo else None
    say_done(todo, kept, report, none="every batch of the earlier state is there", as_json=as_json)
