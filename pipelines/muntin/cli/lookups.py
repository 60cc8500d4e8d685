"""`muntin as-of` and `muntin over`: windows at the instants of rows, and over any range."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import say_json, say_what_was_done
from muntin.cli.place import inspected
from muntin.cli.selection import absent, by_column, check_keys
from muntin.cli.tables import Csv, Form, Limit, Out, Result, Timezone, format_asked, give
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath

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
OutPath = Annotated[
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
    out: OutPath,
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
      muntin as-of dags/loans.py day,last_90_days asked.parquet --at asked_at --out training.parquet
    """
    with working():
        pipeline, folder = inspected(file, name, root)
        from muntin.jobs.lookups.as_of import as_of_files
        from muntin.tasks.choice import runner_for

        how = {"root": folder, "known": known, "within": within, "provisional": provisional}
        with runner_for(spark) as runner:
            names = [window] if window in pipeline.windows else window.split(",")
            wanted = {name if len(names) > 1 else "": (pipeline, name) for name in names}
            count = as_of_files(runner, wanted, rows, out, at=at, prefix=prefix, **how)
    if as_json:
        return say_json({"pipeline": pipeline.name, "window": window, "out": out, "rows": count})
    return say_what_was_done(f"{out}: {many(count, 'row')}")


Start = Annotated[
    datetime,
    typer.Option(
        "--start", parser=opt.instant, metavar="INSTANT", help="Start of the range, in UTC unless said."
    ),
]
End = Annotated[
    datetime, typer.Option("--end", parser=opt.instant, metavar="INSTANT", help="End of the range.")
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Group by this key column; may stand several times; '' is by none. All unless given.",
    ),
]


def over(
    file: opt.File,
    start: Start,
    end: End,
    root: opt.Root = None,
    name: opt.Name = None,
    by: By = None,
    key: opt.Key = None,
    limit: Limit = None,
    timezone: Timezone = None,
    form: Form = None,
    as_json: opt.Json = False,
    as_csv: Csv = False,
    out: Out = None,
) -> None:
    """Show the aggregates of any range of time.

    The range begins and ends at borders of frames. All rows in the state count, late ones too.

    Example:
      muntin over dags/flights.py --start 2013-01-05 --end 2013-01-08 --root state
      muntin over dags/flights.py --start 2013-01-05 --end 2013-01-08 --by '' --root state --json
    """
    written = format_asked(form, out, as_csv=as_csv, as_json=as_json)
    with working():
        pipeline, folder = inspected(file, name, root)
        table = _over(pipeline, folder, start, end, by, key or ())
    result = Result(table, {"pipeline": pipeline.name}, "group", limit=limit, timezone=timezone)
    give(result, written, out, as_json=as_json)


def _over(
    pipeline: "Pipeline",
    root: "AnyPath",
    start: datetime,
    end: datetime,
    by: Sequence[str] | None,
    keys: Sequence[str],
) -> "pa.Table":
    from muntin.jobs.lookups.over import over

    asked = by_column(pipeline.keys, keys)
    some = {column: [value or None for value in values] for column, values in asked.items()} or None
    groups = None if by is None else [column for column in by if column]
    table = over(pipeline, start, end, by=groups, keys=some, root=root)
    if asked:
        there = (
            table
            if {*asked} <= {*table.column_names}
            else over(pipeline, start, end, by=[*asked], keys=some, root=root)
        )
        if any(absent(there, column, values) for column, values in asked.items()):
            check_keys(over(pipeline, start, end, by=[*asked], root=root), asked, "row of the range")
    return table
