"""`muntin quarantine`: the rows that were refused, and another try."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.commands.backfill import parted, ranges, run_ranges, say_done
from muntin.cli.commands.run import command_of
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import inspected, placed
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    import pyarrow as pa

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
    `muntin rebuild`.

    Example:
      muntin quarantine dags/flights.py --root state --from 2013-01-01 --last 100
      muntin quarantine dags/flights.py --root state --retry
    """
    with working() as tell:
        pipeline, folder = placed(file, name, root) if retry else inspected(file, name, root)
        from muntin.jobs.inspect import quarantine as jobs

        rows = jobs.quarantined(pipeline, root=folder, start=since, end=until)
        if retry:
            todo, purged_batches = parted(jobs.to_retry(pipeline, rows, root=folder), allow_missing=False)
            spans = [*ranges(todo)]
            link = f"{command_of('quarantine', file, name, folder)} --retry"
            options = {"validate": True, "allow_missing": False, "dry_run": dry_run}
            report = run_ranges(pipeline, folder, spans, spark, tell, link=link, **options) if spans else None
    if retry:
        return say_done(
            todo,
            purged_batches,
            report,
            none="there is no row in the quarantine",
            dry_run=dry_run,
            as_json=as_json,
        )
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
        _say(shown, len(rows), jobs.reasons(rows))
    return 0


def _say(shown: "pa.Table", total: int, reasons: "Sequence[tuple[str, int]]") -> None:
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
