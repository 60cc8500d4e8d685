"""`muntin show` and `sql`: published windows as a table, and a query over them."""

from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.local_time import Timezone, in_zone
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import inspected
from muntin.cli.quiet import say_what_was_done
from muntin.cli.selection import selected
from muntin.cli.table_formats import print_table, write_table
from muntin.cli.table_options import Csv, Form, Limit, Out, format_asked
from muntin.cli.table_result import Result, give
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    import pyarrow as pa

_LIMIT = 20
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
    table = newest(table, last) if last else table
    limit = limit if limit is not None else 0 if written or as_json or last else _LIMIT
    shown = in_zone(table.slice(0, limit) if limit else table, timezone)
    if out and written:
        write_table(shown, written, out)
        return say_what_was_done(f"{out.absolute()}: {many(len(shown), 'window')}")
    if as_json:
        return say_json(
            {"pipeline": pipeline.name, "window": window, "total": len(table), "rows": shown.to_pylist()}
        )
    return print_table(shown, written) if written else _say_table(shown, len(table), timezone)


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


def _say_table(shown: "pa.Table", total: int, timezone: str | None) -> None:
    say(columns(shown.column_names, [[*row.values()] for row in shown.to_pylist()]))
    more = f"; {total - len(shown):,} more, --limit 0 shows all" if total > len(shown) else ""
    say(f"\n{many(total, 'window')}{more}; instants in {timezone or 'UTC'}")


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
