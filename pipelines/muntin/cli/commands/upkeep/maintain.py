"""`muntin maintain`: what the runs do a slice of, at once; `muntin vacuum`: room of what no reader can see
any more.
"""

from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json, size
from muntin.cli.place import inspected, placed, root_of
from muntin.cli.quiet import say_what_was_done
from muntin.cli.working import working
from muntin.definition.durations import UNITS
from muntin.definition.spelling import many

OlderThan = Annotated[
    int,
    typer.Option(
        "--older-than", parser=opt.duration, metavar="DURATION", help="Default: 7d.", show_default=False
    ),
]
Superseded = Annotated[
    bool, typer.Option("--superseded", help="Also remove states of earlier definitions, with their windows.")
]


def maintain(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    older_than: OlderThan = UNITS["w"],
    superseded: Superseded = False,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> None:
    """Join small files, shorten logs, remove old files.

    Every run does a part of it, so this command is worth it only after an upgrade or a long backfill. Runs
    may go on meanwhile. --superseded also removes the states of earlier definitions that read no batch for
    --older-than: their windows cannot be read any more.

    Example:
      muntin maintain dags/flights.py --root state --superseded --dry-run
    """
    with working() as tell:
        from muntin.jobs.upkeep.maintain import maintain as do

        pipeline, folder = placed(file, name, root)
        maintenance = do(
            pipeline, root=folder, older_than_us=older_than, superseded=superseded, dry_run=dry_run, tell=tell
        )
    total = sum(one.bytes for one in maintenance.removed)
    if as_json:
        places = [
            {"what": one.what, "place": one.place, "files": one.files, "bytes": one.bytes}
            for one in maintenance.removed
        ]
        return say_json(
            {"dry_run": dry_run, "compacted": maintenance.compacted, "bytes": total, "removed": places}
        )
    tell = say if dry_run else say_what_was_done
    for table, times in maintenance.compacted.items():
        tell(f"{table}: files put together {many(times, 'time')}")
    if maintenance.removed:
        tell(
            columns(
                ["what", "place", "files", "bytes"],
                [[one.what, one.place, one.files, size(one.bytes)] for one in maintenance.removed],
            )
        )
    verb = "would remove" if dry_run else "removed"
    return tell(f"{verb} {many(sum(one.files for one in maintenance.removed), 'file')}, {size(total)}")


def vacuum(
    file: opt.SomeFile = None,
    root: opt.Root = None,
    name: opt.Name = None,
    older_than: OlderThan = UNITS["w"],
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> None:
    """Remove files that no reader can need.

    Files that later commits replaced, abandoned stagings and half-written files. Nothing that a table
    consists of now is touched.

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
        places = [
            {"what": one.what, "place": one.place, "files": one.files, "bytes": one.bytes} for one in removed
        ]
        return say_json({"dry_run": dry_run, "bytes": total, "removed": places})
    tell = say if dry_run else say_what_was_done
    if removed:
        tell(
            columns(
                ["what", "place", "files", "bytes"],
                [[one.what, one.place, one.files, size(one.bytes)] for one in removed],
            )
        )
    verb = "would remove" if dry_run else "removed"
    return tell(f"{verb} {many(sum(one.files for one in removed), 'file')}, {size(total)}")
