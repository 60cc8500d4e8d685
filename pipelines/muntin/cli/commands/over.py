"""`muntin over`: the aggregates of any range of time, out of the states."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.key_names import absent, check_keys
from muntin.cli.local_time import Timezone
from muntin.cli.place import inspected
from muntin.cli.selection import by_column
from muntin.cli.table_options import Csv, Form, Limit, Out, format_asked
from muntin.cli.table_result import Result, give
from muntin.cli.working import working

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath

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
    """The range by some key columns, of some keys."""
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
