"""`muntin as-of`: for rows of a Parquet file, the windows that were known at their instants."""

from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import say_json
from muntin.cli.place import inspected
from muntin.cli.quiet import say_what_was_done
from muntin.cli.working import working
from muntin.definition.spelling import many

Rows = Annotated[
    str,
    typer.Argument(
        metavar="ROWS", help="A Parquet file, or a folder of them: keys and an instant.", show_default=False
    ),
]
At = Annotated[
    str,
    typer.Option(
        "--at", metavar="COLUMN", help="The column with the instant of each row.", show_default=False
    ),
]
Out = Annotated[
    str,
    typer.Option(
        "--out", metavar="PATH", help="The Parquet file, or the folder, to write.", show_default=False
    ),
]
Known = Annotated[
    str,
    typer.Option(
        "--known", metavar="WHEN", help='"closed": as published by then; "ended": as published now.'
    ),
]
Within = Annotated[
    str | None, typer.Option("--within", metavar="DURATION", help="How old a session or the like may be.")
]
Prefix = Annotated[
    str, typer.Option("--prefix", metavar="TEXT", help="Put before the name of each column that is added.")
]


def as_of(
    file: opt.File,
    window: opt.Window,
    rows: Rows,
    at: At,
    out: Out,
    root: opt.Root = None,
    name: opt.Name = None,
    known: Known = "closed",
    within: Within = None,
    provisional: opt.Provisional = False,
    prefix: Prefix = "",
    spark: opt.Spark = None,
    as_json: opt.Json = False,
) -> None:
    """Find for each row the window that was known at its instant.

    The window of the row's key that ended last by then, as a run on schedule had published it by then: no
    later row leaks into a training set. All rows are written, in their order, each with the columns of its
    window.

    Example:
      muntin as-of dags/loans.py last_90_days asked.parquet --at asked_at --out training.parquet --root state
    """
    with working():
        pipeline, folder = inspected(file, name, root)
        from muntin.jobs.lookups.as_of_files import as_of_files
        from muntin.tasks.choice import runner_for

        how = {"root": folder, "known": known, "within": within, "provisional": provisional}
        with runner_for(spark) as runner:
            count = as_of_files(runner, pipeline, window, rows, out, at=at, prefix=prefix, **how)
    if as_json:
        return say_json({"pipeline": pipeline.name, "window": window, "out": out, "rows": count})
    return say_what_was_done(f"{out}: {many(count, 'row')}")
