"""`muntin show`: published windows as a table."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli import options as opt
from pipelines.cli.definition import load_pipeline
from pipelines.cli.output import columns, plain, say, say_json
from pipelines.cli.selection import selected
from pipelines.cli.working import working
from pipelines.definition.amounts import many

if TYPE_CHECKING:
    import pyarrow as pa

_LIMIT = 20
Limit = Annotated[
    int | None,
    typer.Option("--limit", min=0, metavar="ROWS", help="At most so many; 0 is all. 20, or all with --json, --csv."),
]
Csv = Annotated[bool, typer.Option("--csv", help="Print the windows as CSV.")]


def show(
    file: opt.File,
    window: opt.Window,
    root: opt.Root = Path("state"),
    name: opt.Name = None,
    key: opt.Key = None,
    low: opt.From = None,
    high: opt.To = None,
    limit: Limit = None,
    provisional: opt.Provisional = False,
    as_json: opt.Json = False,
    as_csv: Csv = False,
) -> None:
    """Show published windows.

    Sorted by key and start.

    Example:
      muntin show dags/flights.py last_6_hours --root state --key JFK --from 2013-01-05 --to 2013-01-06
    """
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv exclude each other")
    with working():
        pipeline = load_pipeline(file, name)
        table = selected(pipeline, window, root, keys=key, low=low, high=high, provisional=provisional)
    limit = limit if limit is not None else 0 if as_json or as_csv else _LIMIT
    shown = table.slice(0, limit) if limit else table
    if as_json:
        say_json({"pipeline": pipeline.name, "window": window, "total": len(table), "rows": shown.to_pylist()})
    elif as_csv:
        say(_csv(shown))
    else:
        _say_table(shown, len(table))


def _csv(table: "pa.Table") -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows([plain(value) for value in row.values()] for row in table.to_pylist())
    return text.getvalue().rstrip("\n")


def _say_table(shown: "pa.Table", total: int) -> None:
    say(columns(shown.column_names, [[*row.values()] for row in shown.to_pylist()]))
    more = f"; {total - len(shown):,} more, --limit 0 shows all" if total > len(shown) else ""
    say(f"\n{many(total, 'window')}{more}; instants in UTC")
