"""`muntin show` and `muntin sql`: published windows, what changed of them, and a query over them."""

from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.place import inspected
from muntin.cli.selection import selected
from muntin.cli.tables import (
    Csv,
    Form,
    Limit,
    Out,
    Result,
    Timezone,
    format_asked,
    give,
)
from muntin.cli.working import working

if TYPE_CHECKING:
    import pyarrow as pa

Last = Annotated[
    int | None,
    typer.Option("--last", min=1, metavar="ROWS", help="Only so many windows: the windows that end last."),
]
Query = Annotated[
    str, typer.Argument(metavar="QUERY", help="One SELECT in the SQL of DuckDB.", show_default=False)
]


def show(
    file: opt.File,
    window: opt.Window,
    root: opt.Root = None,
    name: opt.Name = None,
    key: opt.Key = None,
    low: opt.From = None,
    high: opt.To = None,
    last: Last = None,
    limit: Limit = None,
    provisional: opt.Provisional = False,
    timezone: Timezone = None,
    form: Form = None,
    as_json: opt.Json = False,
    as_csv: Csv = False,
    out: Out = None,
) -> None:
    """Show published windows.

    Sorted by key and start.

    Example:
      muntin show dags/flights.py last_6_hours --root state --key JFK --from 2013-01-05 --to 2013-01-06
      muntin show dags/flights.py last_6_hours --root state --last 100 --format parquet > newest.parquet
    """
    written = format_asked(form, out, as_csv=as_csv, as_json=as_json)
    with working():
        pipeline, folder = inspected(file, name, root)
        table = selected(pipeline, window, folder, keys=key, low=low, high=high, provisional=provisional)
    rows, limit = (newest(table, last), limit or 0) if last else (table, limit)
    head = {"pipeline": pipeline.name, "window": window}
    give(Result(rows, head, "window", limit=limit, timezone=timezone), written, out, as_json=as_json)


def newest(table: "pa.Table", count: int) -> "pa.Table":
    """The rows that end last, in the order of the table; of windows that end together the later rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbered = table.select(["window_end", "window_start"]).append_column(
        "at", pa.array(range(len(table)), pa.int64())
    )
    order = pc.sort_indices(
        numbered, [("window_end", "descending"), ("window_start", "descending"), ("at", "descending")]
    )
    chosen = order[:count]
    return table.take(chosen.take(pc.sort_indices(chosen)))


def sql(
    file: opt.File,
    query: Query,
    root: opt.Root = None,
    name: opt.Name = None,
    limit: Limit = None,
    timezone: Timezone = None,
    form: Form = None,
    as_json: opt.Json = False,
    as_csv: Csv = False,
    out: Out = None,
) -> None:
    """Query published windows by their names.

    Each window is a table of DuckDB with the rows that `show` has; a rollup is "day.by_city", in quotes. A
    query reads windows alone.

    Example:
      muntin sql dags/flights.py "select origin, max(worst) from day group by all" --root state
    """
    written = format_asked(form, out, as_csv=as_csv, as_json=as_json)
    with working():
        from muntin.jobs.inspect.sql import sql as over_windows
        from muntin.jobs.state.state_folders import bind_existing

        pipeline, folder = inspected(file, name, root)
        bind_existing(pipeline, folder)
        table = over_windows(pipeline, query, root=folder)
    give(
        Result(table, {"pipeline": pipeline.name}, "row", limit=limit, timezone=timezone),
        written,
        out,
        as_json=as_json,
    )


Since = Annotated[
    int,
    typer.Option(
        "--since",
        min=-1,
        metavar="VERSION",
        help="A version of the window's table, as status says; -1: all are new.",
    ),
]


def changes(
    file: opt.File,
    window: opt.Window,
    since: Since,
    root: opt.Root = None,
    name: opt.Name = None,
    key: opt.Key = None,
    low: opt.From = None,
    high: opt.To = None,
    limit: Limit = None,
    timezone: Timezone = None,
    form: Form = None,
    as_json: opt.Json = False,
    as_csv: Csv = False,
    out: Out = None,
) -> None:
    """List the windows that changed.

    New, changed and gone since a version of the window's table, each with the version that brought it
    ("revision"), and with the values before ("old_..."). The results of a window that is gone are empty. Only
    files that changed are read.

    Example:
      muntin show --changes dags/flights.py last_6_hours --root state --since 12
    """
    written = format_asked(form, out, as_csv=as_csv, as_json=as_json)
    with working():
        from muntin.jobs.published.changes_since import version_of

        pipeline, folder = inspected(file, name, root)
        table = selected(pipeline, window, folder, keys=key, low=low, high=high, changes_since=since)
        version = version_of(table)
    head = {"pipeline": pipeline.name, "window": window, "since": since, "version": version}
    onward = f"; go on with --since {version}"
    give(Result(table, head, "change", limit, timezone, onward), written, out, as_json=as_json)
