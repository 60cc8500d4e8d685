"""`muntin changes`: what changed in published windows since a version of their table."""

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
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    import pyarrow as pa

_LIMIT = 20
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
    ("revision"). The results of a window that is gone are empty. Only files that changed are read.

    Example:
      muntin changes dags/flights.py last_6_hours --root state --since 12
    """
    written = format_asked(form, out, as_csv=as_csv, as_json=as_json)
    with working():
        from muntin.jobs.published.changes_since import version_of

        pipeline, folder = inspected(file, name, root)
        table = selected(pipeline, window, folder, keys=key, low=low, high=high, changes_since=since)
        version = version_of(table)
    limit = limit if limit is not None else 0 if written or as_json else _LIMIT
    shown = in_zone(table.slice(0, limit) if limit else table, timezone)
    if out and written:
        write_table(shown, written, out)
        return say_what_was_done(f"{out.absolute()}: {many(len(shown), 'change')}; version {version}")
    if as_json:
        facts = {
            "pipeline": pipeline.name,
            "window": window,
            "since": since,
            "version": version,
            "total": len(table),
        }
        return say_json(facts | {"rows": shown.to_pylist()})
    return print_table(shown, written) if written else _say_table(shown, len(table), version, timezone)


def _say_table(shown: "pa.Table", total: int, version: int, timezone: str | None) -> None:
    if total:
        say(columns(shown.column_names, [[*row.values()] for row in shown.to_pylist()]) + "\n")
    more = f"; {total - len(shown):,} more, --limit 0 shows all" if total > len(shown) else ""
    say(f"{many(total, 'change')}{more}; instants in {timezone or 'UTC'}; go on with --since {version}")
