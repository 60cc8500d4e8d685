"""`muntin rebuild`: the batches that a changed definition has lost."""

from pathlib import Path

from pipelines.cli import options as opt
from pipelines.cli.backfill import plain, ranges, run_ranges, say_todo
from pipelines.cli.definition import load_pipeline
from pipelines.cli.output import say_json
from pipelines.cli.run import say_report
from pipelines.cli.working import working


def rebuild(
    file: opt.File,
    root: opt.Root = Path("state"),
    name: opt.Name = None,
    validate: opt.Validate = True,
    spark: opt.Spark = None,
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

        pipeline = load_pipeline(file, name)
        todo = to_rebuild(pipeline, root=root)
        report = run_ranges(pipeline, root, [*ranges(todo)], spark, tell, validate=validate) if todo else None
    if as_json:
        return say_json({"batches": [plain(one) for one in todo], "report": report.to_dict() if report else None})
    say_todo(todo, "every batch of the earlier state is there")
    if report:
        say_report(report)
    return None
