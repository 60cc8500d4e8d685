"""`muntin check`: does a definition fit its source and its suites?"""

from typing import TYPE_CHECKING

from muntin.cli import options as opt
from muntin.cli.colours import coloured
from muntin.cli.output import say, say_json, say_painted
from muntin.cli.place import inspected
from muntin.cli.working import working
from muntin.definition.amounts import many
from muntin.errors import SourceError
from muntin.printable import lines, printable

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.jobs.check import Examined

_NO_FILE = "no file of its source was found, so SQL, keys and columns were not checked"

_NO_ROWS = "its source has no rows yet; what can be checked without rows is right"

_NO_SPARK = "only Spark can read its source, and it was not started; what can be checked without it is right"


def check(file: opt.File, root: opt.Root = None, name: opt.Name = None, as_json: opt.Json = False) -> int:
    """Check a definition.

    SQL, keys and columns against the files of the first interval that has any; suites against the columns of their windows. Warnings tell
    what is allowed and seldom meant. No Spark is started. `plan` and `run` do the same for their range. Exit status 3 if a source of
    files has none.

    Example:
      muntin check dags/flights.py
    """
    with working():
        pipeline, folder = inspected(file, name, root)
        from muntin.jobs.check import examined

        found = examined(pipeline, root=folder)
    status = SourceError.exit_status if found.lacking else 0
    if as_json:
        say_json({"pipeline": pipeline.name, "files": found.files, "warnings": found.remarks, "lacking": found.lacking})
        return status
    say(f"{pipeline.name}: {_finding(pipeline, found)}")
    for remark in found.remarks:
        say_painted(f"{coloured('warning', 'yellow')}: {lines(remark)}")
    return status


def _finding(pipeline: "Pipeline", found: "Examined") -> str:
    if found.lacking:
        return "\n".join([_NO_FILE, *(f"  {each}" for each in found.lacking)])
    if not found.files:
        return _NO_SPARK if hasattr(pipeline.source, "read") else _NO_ROWS
    of = f"{many(len(found.files), 'file')} of {', '.join(pipeline.sources)}" if pipeline.sources else printable(found.files[0])
    return f"{_parts(pipeline)} fit {of}"


def _parts(pipeline: "Pipeline") -> str:
    counts = {"window": pipeline.windows, "aggregate": pipeline.aggregates, "suite": pipeline.expectations}
    return ", ".join(many(len(parts), noun) for noun, parts in counts.items() if parts)
