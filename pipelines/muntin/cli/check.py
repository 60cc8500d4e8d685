"""`muntin check`: does a definition fit its source, its suites and its readers, and what may
these count on?
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import coloured, say, say_json, say_painted
from muntin.cli.place import inspected
from muntin.cli.working import working
from muntin.definition.spelling import many
from muntin.errors import DefinitionError, SourceError
from muntin.printable import lines, printable
from muntin.registry import extension

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.jobs.check import Examined

_NO_FILE = "no file of its source was found, so SQL, keys and columns were not checked"

_NO_ROWS = "its source has no rows yet; what can be checked without rows is right"

_NOT_ASKED = "its source is asked by runs alone, so SQL, keys and columns were not checked; the rest is right"

_NO_SPARK = "only Spark can read its source, and it was not started; what can be checked without it is right"

Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="CONTRACT",
        help="Also say what breaks for readers, by a file of `muntin check --contract`.",
    ),
]


def check(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    against: Against = None,
    as_json: opt.Json = False,
) -> int:
    """Check a definition.

    SQL, types, keys and columns against the first files; suites against the columns of their windows.
    Warnings name what is allowed and seldom meant. `plan`, `run` and the first task of the DAG do the same
    for their batches. Exit status 3 if a source has no files, and 2 if a promise of the
    contract is broken.

    Example:
      muntin check dags/flights.py
      muntin check dags/flights.py --against contract.yaml
    """
    with working():
        pipeline, folder = inspected(file, name, root)
        from muntin.jobs.check import examined
        from muntin.jobs.state.same_names import check_alone

        if not against:  # a candidate stands beside the definition that it may replace
            check_alone(file, pipeline.name)
        examination = examined(pipeline, root=folder)
        broken, more = [], []
        if against:
            broken, more = extension("contracts", "held_against")(pipeline, folder, against)
    status = (
        DefinitionError.exit_status if broken else SourceError.exit_status if examination.without_files else 0
    )
    if as_json:
        held = {"breaks": [asdict(each) for each in broken], "added": more} if against else {}
        say_json(
            {
                "pipeline": pipeline.name,
                "files": examination.files,
                "warnings": examination.remarks,
                "lacking": examination.without_files,
                **held,
            }
        )
        return status
    say(f"{pipeline.name}: {_finding(pipeline, examination)}")
    for remark in examination.remarks:
        say_painted(f"{coloured('warning', 'yellow')}: {lines(remark)}")
    if against:
        say("\n".join(printable(line) for line in _kept(against, broken, more)))
    return status


def _kept(path: Path, broken: Sequence[object], more: Sequence[str]) -> Iterator[str]:
    yield f"{path}: {many(len(broken), 'promise')} broken" if broken else f"{path}: no promise is broken"
    yield from (f"  {each}" for each in broken)
    if more:
        yield f"  added, which breaks nothing: {', '.join(more)}"


def _finding(pipeline: "Pipeline", examination: "Examined") -> str:
    if examination.without_files:
        return "\n".join([_NO_FILE, *(f"  {each}" for each in examination.without_files)])
    if not examination.files:
        if hasattr(pipeline.source, "read"):
            return _NO_SPARK
        return _NOT_ASKED if hasattr(pipeline.source, "fetch") else _NO_ROWS
    of = (
        f"{many(len(examination.files), 'file')} of {', '.join(pipeline.sources)}"
        if pipeline.sources
        else printable(examination.files[0])
    )
    counts = {
        "window": pipeline.windows,
        "aggregate": pipeline.row_aggregates,
        "suite": pipeline.expectations,
    }
    return f"{', '.join(many(len(parts), noun) for noun, parts in counts.items() if parts)} fit {of}"


def contract(file: opt.File, root: opt.Root = None, name: opt.Name = None) -> None:
    """Print the contract of published windows.

    In the Open Data Contract Standard: columns, types, keys, units, suites, freshness, retention. It is
    written as JSON, which is YAML, too. `muntin check --against` holds a later definition against it.

    Example:
      muntin check --contract dags/flights.py --root state > contract.yaml
    """
    with working():
        pipeline, folder = inspected(file, name, root)
        document = extension("contracts", "contract")(pipeline, root=folder)
    say_json(document)
