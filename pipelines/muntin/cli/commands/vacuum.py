"""`muntin vacuum`: free the room of what no reader can see any more."""

from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json, size
from muntin.cli.place import inspected, root_of
from muntin.cli.quiet import say_what_was_done
from muntin.cli.working import working
from muntin.definition.amounts import many
from muntin.definition.durations import UNITS

OlderThan = Annotated[
    int,
    typer.Option("--older-than", parser=opt.duration, metavar="DURATION", help="Default: 7d.", show_default=False),
]


def vacuum(
    file: opt.SomeFile = None,
    root: opt.Root = None,
    name: opt.Name = None,
    older_than: OlderThan = UNITS["w"],
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> None:
    """Remove files that nobody can read any more.

    Files that later commits replaced, abandoned stagings and half-written files. Nothing that a table consists of
    now is touched.

    Example:
      muntin vacuum --root state --older-than 7d --dry-run
    """
    with working():
        folder = root_of(root, file)
        pipeline = inspected(file, name, root)[0] if file else None
        from muntin.jobs.upkeep.vacuum import vacuum as sweep

        removed = sweep(folder, older_than_us=older_than, pipeline=pipeline, dry_run=dry_run)
    total = sum(one.bytes for one in removed)
    if as_json:
        places = [{"what": one.what, "place": one.place, "files": one.files, "bytes": one.bytes} for one in removed]
        return say_json({"dry_run": dry_run, "bytes": total, "removed": places})
    tell = say if dry_run else say_what_was_done
    if removed:
        tell(columns(["what", "place", "files", "bytes"], [[one.what, one.place, one.files, size(one.bytes)] for one in removed]))
    verb = "would remove" if dry_run else "removed"
    return tell(f"{verb} {many(sum(one.files for one in removed), 'file')}, {size(total)}")
