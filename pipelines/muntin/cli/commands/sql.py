"""`muntin sql`: a query over published windows."""

from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.local_time import Timezone
from muntin.cli.place import inspected
from muntin.cli.table_options import Csv, Form, Limit, Out, format_asked
from muntin.cli.table_result import Result, give
from muntin.cli.working import working

Query = Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT in the SQL of DuckDB.", show_default=False)]


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

    Each window is a table of DuckDB with the rows that `show` has; a rollup is "day.by_city", in quotes. A query reads windows alone.

    Example:
      muntin sql dags/flights.py "select origin, max(worst) from day group by all" --root state
    """
    written = format_asked(form, out, as_csv=as_csv, as_json=as_json)
    with working():
        from muntin.jobs.inspect import sql as over_windows
        from muntin.jobs.state.state_folders import bind_existing

        pipeline, folder = inspected(file, name, root)
        bind_existing(pipeline, folder)
        table = over_windows.sql(pipeline, query, root=folder)
    give(Result(table, {"pipeline": pipeline.name}, "row", limit=limit, timezone=timezone), written, out, as_json=as_json)
