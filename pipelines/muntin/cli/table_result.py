"""The table that a command computes, as its options ask for it: for people, as a document, in a format, in a
file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.cli.local_time import in_zone
from muntin.cli.output import columns, say, say_json
from muntin.cli.quiet import say_what_was_done
from muntin.cli.table_formats import Format, print_table, write_table
from muntin.definition.spelling import many

if TYPE_CHECKING:
    import pyarrow as pa

_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Result:
    """A table that was computed.

    Attributes:
        rows: all of them.
        head: what the document says before its rows.
        noun: what a row is.
        limit: the most rows to give; 0: all; None: all to machines, and 20 to people.
        timezone: whose clock instants are told by; None: UTC.
    """

    rows: "pa.Table"
    head: Mapping[str, object]
    noun: str
    limit: int | None
    timezone: str | None


def give(result: Result, written: Format | None, out: Path | None, *, as_json: bool) -> None:
    """Print a result or write it to a file. `written`: the format; None: a document or a table for people.

    `written`: the format; None: a document or a table for people.
    """
    total = len(result.rows)
    limit = result.limit if result.limit is not None else 0 if written or as_json else _LIMIT
    shown = in_zone(result.rows.slice(0, limit) if limit else result.rows, result.timezone)
    if out and written:
        write_table(shown, written, out)
        return say_what_was_done(f"{out.absolute()}: {many(len(shown), result.noun)}")
    if as_json:
        return say_json({**result.head, "total": total, "rows": shown.to_pylist()})
    return print_table(shown, written) if written else _say_table(shown, result)


def _say_table(shown: "pa.Table", result: Result) -> None:
    if len(shown):
        say(columns(shown.column_names, [[*row.values()] for row in shown.to_pylist()]) + "\n")
    more = (
        f"; {len(result.rows) - len(shown):,} more, --limit 0 shows all"
        if len(result.rows) > len(shown)
        else ""
    )
    say(f"{many(len(result.rows), result.noun)}{more}; instants in {result.timezone or 'UTC'}")
