"""`muntin rebuild`: the batches that a changed definition has lost."""

from pipelines.cli import options as opt
from pipelines.cli.backfill import plain, ranges, run_ranges, say_todo
from pipelines.cli.output import say_json
from pipelines.cli.place import placed
from pipelines.cli.run import say_report
from pipelines.cli.working import working


def rebuild(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    validate: opt.Validate = True,
    spark: opt.Spark = None,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> None:
    """Read again what an earlier definition had read.

    After a change of what states hold, as another aggregate whose fields are new: in bulk, the batches that the newest
    earlier state has and the present one lacks. Earlier windows stay where they are; vacuum never takes them.

    Example:
      muntin rebuild dags/flights.py --root state
    """
    with working() as tell:
        from pipelines.jobs.upkeep.rebuild import to_rebuild

        pipeline, folder = placed(file, name, root)
        todo = to_rebuild(pipeline, root=folder)
        report = run_ranges(pipeline, folder, [*ranges(todo)], spark, tell, validate=validate, dry_run=dry_run) if todo else None
    if as_json:
        return say_json({"batches": [plain(one) for one in todo], "report": report.to_dict() if report else None})
    say_todo(todo, "every batch of the earlier state is there", dry_run=dry_run)
    if report:
        say_report(report)
    return None
