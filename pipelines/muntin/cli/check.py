"""`muntin check`: does a definition fit its source and its suites?"""

from typing import TYPE_CHECKING

from muntin.cli import options as opt
from muntin.cli.output import say, say_json
from muntin.cli.place import looked_at
from muntin.cli.working import working
from muntin.definition.amounts import many

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline

_NO_FILE = "no file of its source was found; what can be checked without one is right"

_NO_SPARK = "only Spark can read its source, and it was not started; what can be checked without it is right"


def check(file: opt.File, root: opt.Root = None, name: opt.Name = None, as_json: opt.Json = False) -> None:
    """Check a definition.

    SQL, keys and columns against the files of the first interval that has any; suites against the columns of their windows. No Spark is
    started. `plan` and `run` do the same for their range.

    Example:
      muntin check dags/flights.py
    """
    with working():
        pipeline, folder = looked_at(file, name, root)
        from muntin.jobs.run.check import check_definition

        files = check_definition(pipeline, root=folder)
    if as_json:
        return say_json({"pipeline": pipeline.name, "files": list(files)})
    fitting = f"{many(len(files), 'file')} of {', '.join(pipeline.sources)}" if pipeline.sources else "".join(files[:1])
    told = f"{_parts(pipeline)} fit {fitting}" if files else _NO_SPARK if hasattr(pipeline.source, "read") else _NO_FILE
    return say(f"{pipeline.name}: {told}")


def _parts(pipeline: "Pipeline") -> str:
    counts = {"window": pipeline.windows, "aggregate": pipeline.aggregates, "suite": pipeline.expectations}
    return ", ".join(many(len(parts), noun) for noun, parts in counts.items() if parts)
