"""`muntin diff`, `promote` and `rollback`: a changed definition, seen before readers see it, put in place,
and taken back.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.exported import exported
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import inspected, placed
from muntin.cli.quiet import say_what_was_done
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.jobs.inspect.diff import Difference

Against = Annotated[
    Path | None,  # or an `ObjectPath`: typer knows no unions
    typer.Option(
        "--against",
        parser=opt.folder,
        metavar="FILE",
        help="Another definition's file, or the folder of another state, instead of the live windows.",
    ),
]
Rows = Annotated[
    int, typer.Option("--rows", min=0, help="How many windows that differ are shown, of each name.")
]
Incomplete = Annotated[
    bool,
    typer.Option(
        "--incomplete", help="Also promote windows that lack batches: missing windows are gone then."
    ),
]
Version = Annotated[
    int | None,
    typer.Option(
        "--version", min=0, help="A version of the window's table; else the last of the definition before."
    ),
]


def diff(
    file: opt.File,
    window: opt.SomeWindow = None,
    root: opt.Root = None,
    name: opt.Name = None,
    against: Against = None,
    rows: Rows = 5,
    as_json: opt.Json = False,
) -> None:
    """Say how windows change with a definition.

    Compare the live windows with the windows of FILE: which are new, gone or changed, and the largest change
    of each number. Nothing is promoted. A definition whose states hold something else needs `muntin rebuild
    FILE --candidate` first.

    Example:
      muntin diff dags/flights.py --root state
      muntin diff dags/flights.py --root state --against /backup/state
    """
    with working():
        from muntin.jobs.inspect.diff import diff as inspect

        pipeline, folder = inspected(file, name, root)
        other = against if against is None or against.is_dir() else inspected(against, name, root)[0]
        differences = inspect(pipeline, root=folder, window=window, against=other)
    if as_json:
        return say_json([one.to_dict() | {"rows": [*one.changes.rows(rows)]} for one in differences])
    for one in differences:
        say("\n".join(_lines(one, rows)))
    return None


def _lines(one: "Difference", rows: int) -> list[str]:
    """How one window differs, for people."""
    counts = one.counted()
    lines = [f"{one.window}: {one.before:,} windows before, {one.after:,} after"]
    lines.append(f"  {counts['changed']:,} changed, {counts['new']:,} new, {counts['gone']:,} gone")
    if one.lacking:
        lines.append(f"  {many(one.lacking, 'batch')} not read yet under this definition")
    lines += [f"  {name}: new" for name in one.new_columns]
    lines += [f"  {name}: not in this definition" for name in one.gone_columns]
    lines += [f"  {name}: of another type, not compared" for name in one.retyped_columns]
    lines += [
        f"  {name}: changes by {by:g} at most, in {_spelled(where)}"
        for name, (by, where) in one.largest.items()
    ]
    shown = [*one.changes.rows(rows)]
    lines += [
        f"  {row['change']}: {_spelled({key: row[key] for key in one.changes.identity})}" for row in shown
    ]
    return lines


def _spelled(where: "Mapping[str, object]") -> str:
    return ", ".join(f"{name} {value}" for name, value in where.items())


def promote(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    incomplete: Incomplete = False,
    validate: opt.Validate = True,
    spark: opt.Spark = None,
    as_json: opt.Json = False,
) -> None:
    """Make a definition the current one.

    The live tables hold its windows from then on, in one commit for each window. No source is read. The
    earlier definition is superseded: its runs are refused until it is promoted again.

    Example:
      muntin promote dags/flights.py --root state
    """
    with working() as tell:
        from muntin.jobs.upkeep.promote import promote as do

        pipeline, folder = placed(file, name, root)
        with exported():
            window_names = do(
                pipeline, root=folder, spark=spark, incomplete=incomplete, validate=validate, progress=tell
            )
    if as_json:
        return say_json({"promoted": window_names})
    return say_what_was_done(
        f"promoted: {', '.join(window_names)}"
        if window_names
        else f"{pipeline.name}: this definition is current already"
    )


def rollback(
    file: opt.File,
    window: opt.SomeWindow = None,
    root: opt.Root = None,
    name: opt.Name = None,
    version: Version = None,
    as_json: opt.Json = False,
) -> None:
    """Take back the promotion of a definition.

    The live tables hold the earlier windows again, in one commit for each window, as long as `vacuum` has not
    removed their files. The current definition is superseded; the definition before it goes on with its next
    run.

    Example:
      muntin rollback dags/flights.py --root state
    """
    with working():
        from muntin.jobs.upkeep.promote import rollback as do

        pipeline, folder = placed(file, name, root)
        rollbacks = do(pipeline, root=folder, window=window, version=version)
    if as_json:
        return say_json(
            [{"window": one.window, "version": one.version, "files": one.files} for one in rollbacks]
        )
    return say_what_was_done(
        columns(
            ["window", "as of version", "files"], [[one.window, one.version, one.files] for one in rollbacks]
        )
    )
