"""`muntin late`: rows that came too late for windows."""

from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import inspected
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.jobs.inspect.late import LateBatch

States = Annotated[
    bool, typer.Option("--states", help="Also the key and frame of the late rows, from the checkpoint.")
]
Limit = Annotated[
    int, typer.Option("--limit", min=0, metavar="ROWS", help="At most so many states of a window; 0 is all.")
]


def late(
    file: opt.File,
    window: opt.SomeWindow = None,
    root: opt.Root = None,
    name: opt.Name = None,
    states: States = False,
    limit: Limit = 20,
    as_json: opt.Json = False,
) -> None:
    """List what came too late.

    The batches with rows too late for windows, and how many windows these rows missed. Late rows stay in the
    checkpoint and count in every window that was still open.

    Example:
      muntin late dags/flights.py last_6_hours --root state --states
    """
    with working():
        pipeline, folder = inspected(file, name, root)
        from muntin.jobs.inspect import late as jobs

        batches = jobs.late(pipeline, window, root=folder)
        names = sorted({one.window for one in batches}) if states else []
        table_of_window = {each: jobs.late_states(pipeline, each, root=folder) for each in names}
    if as_json:
        rows = [
            {"window": one.window, "batch": one.batch, "rows": one.rows, "windows": one.windows}
            for one in batches
        ]
        return say_json(
            {"batches": rows, "states": {each: table.to_pylist() for each, table in table_of_window.items()}}
        )
    return _say(batches, table_of_window, limit)


def _say(batches: "list[LateBatch]", table_of_window: "dict[str, pa.Table]", limit: int) -> None:
    if not batches:
        return say("no row came too late for any window")
    heads = ["window", "batch (UTC)", "rows late", "windows missed"]
    say(columns(heads, [[one.window, one.batch, one.rows, one.windows] for one in batches]))
    for window, table in table_of_window.items():
        shown = table.slice(0, limit) if limit else table
        say(
            f"\n{window}: {many(len(table), 'late state')}"
            + (f", the first {limit}" if len(shown) < len(table) else "")
        )
        heads = [*table.column_names[:-1], "windows missed by each"]
        say(columns(heads, [[*row.values()] for row in shown.to_pylist()]))
    return None
