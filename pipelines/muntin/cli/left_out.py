"""`muntin show` of rows that came late, or were refused."""

from collections.abc import Sequence
from dataclasses import asdict, astuple
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import inspected, placed
from muntin.cli.report import command_of
from muntin.cli.run import read_batches, say_work
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    import pyarrow as pa


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
    """List what came late.

    The batches with rows that came when a window was published: rows in time for each of their windows; rows
    that corrected published windows; and rows too late for at least one window, with how many windows they
    missed. Late rows stay in the checkpoint and count in every window that was still open.

    Example:
      muntin show --late dags/flights.py last_6_hours --root state --states
    """
    with working():
        pipeline, folder = inspected(file, name, root)
        from muntin.jobs.inspect import late as jobs

        batches = jobs.late(pipeline, window, root=folder)
        names = sorted({one.window for one in batches if one.late}) if states else []
        table_of_window = {each: jobs.late_states(pipeline, each, root=folder) for each in names}
    if as_json:
        tables = {each: table.to_pylist() for each, table in table_of_window.items()}
        return say_json({"batches": [asdict(one) for one in batches], "states": tables})
    if not batches:
        return say("no row came when a window over it was published")
    heads = ["window", "batch (UTC)", "rows in time", "correcting", "too late", "windows missed"]
    say(columns(heads, [*map(astuple, batches)]))
    for each, table in table_of_window.items():
        shown = table.slice(0, limit) if limit else table
        say(
            f"\n{each}: {many(len(table), 'late state')}"
            + (f", the first {limit}" if len(shown) < len(table) else "")
        )
        heads = [*table.column_names[:-1], "windows missed by each"]
        say(columns(heads, [[*row.values()] for row in shown.to_pylist()]))
    return None


From = Annotated[
    datetime | None,
    typer.Option(
        "--from", parser=opt.instant, metavar="INSTANT", help="Only batches that begin at or after it."
    ),
]
To = Annotated[
    datetime | None,
    typer.Option("--to", parser=opt.instant, metavar="INSTANT", help="Only batches that begin before it."),
]
Last = Annotated[
    int,
    typer.Option(
        "--last", min=0, metavar="ROWS", help="At most so many rows, the newest batches'; 0 is all."
    ),
]
Retry = Annotated[bool, typer.Option("--retry", help="Read the batches of these rows again.")]
_WIDEST = 60


def quarantine(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    since: From = None,
    until: To = None,
    last: Last = 20,
    retry: Retry = False,
    spark: opt.Spark = None,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> int:
    """List the rows that were refused, and why.

    Each with its batch, file, line, column, reason and text. After you corrected the files, --retry reads
    their batches again and publishes what changed. After you corrected the definition, as by types=, use
    `muntin run --rebuild`.

    Example:
      muntin show --quarantine dags/flights.py --root state --from 2013-01-01 --last 100
      muntin show --quarantine dags/flights.py --root state --retry
    """
    with working() as tell:
        pipeline, folder = placed(file, name, root) if retry else inspected(file, name, root)
        from muntin.jobs.inspect import late as jobs

        rows = jobs.quarantined(pipeline, root=folder, start=since, end=until)
        if retry:
            link = f"{command_of('show --quarantine', file, name, folder)} --retry"
            batches = jobs.to_retry(pipeline, rows, root=folder)
            work = read_batches(pipeline, folder, batches, spark, tell, link=link, dry_run=dry_run)
    if retry:
        return say_work(work, none="there is no row in the quarantine", dry_run=dry_run, as_json=as_json)
    shown = rows.slice(max(0, len(rows) - last)) if last else rows
    if as_json:
        reason_counts = [{"reason": reason, "rows": count} for reason, count in jobs.reasons(rows)]
        say_json(
            {
                "pipeline": pipeline.name,
                "total": len(rows),
                "reasons": reason_counts,
                "rows": shown.to_pylist(),
            }
        )
    else:
        _say_refused(shown, len(rows), jobs.reasons(rows))
    return 0


def _say_refused(shown: "pa.Table", total: int, reasons: "Sequence[tuple[str, int]]") -> None:
    if not total:
        return say("there is no row in the quarantine")
    heads = ["batch (UTC)", "file", "line", "reason", "row"]
    rows = [
        [row["batch"], row["file"], _place(row), row["reason"], _short(row["row"])]
        for row in shown.to_pylist()
    ]
    say(columns(heads, rows))
    more = f", the last {len(shown):,} of them shown; --last 0 shows all" if len(shown) < total else ""
    say(f"\n{many(total, 'row')}{more}")
    return say(columns(["reason", "rows"], reasons))


def _place(row: "dict[str, object]") -> object:
    """The line of a row; where files have no lines, its number in the file, from 1."""
    line, position = row["line"], row["position"]
    return line if line is not None or not isinstance(position, int) else f"row {position + 1}"


def _short(text: object) -> str:
    plain = " ".join(str(text or "").split())
    return plain if len(plain) <= _WIDEST else plain[: _WIDEST - 3] + "..."
