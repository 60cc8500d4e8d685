"""Tables that a command prints or writes to a file: formats, options, and the result as they ask for it."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from muntin.cli.output import columns, json_text, plain, say, say_json, say_what_was_done
from muntin.definition.spelling import did_you_mean, many
from muntin.errors import DefinitionError
from muntin.printable import lines
from muntin.windows.clock import zone

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["parquet", "csv", "json", "arrow"]
FORMATS: tuple[Format, ...] = get_args(Format)
_BINARY = ("parquet", "arrow")
_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\N{FULLWIDTH EQUALS SIGN}",
    "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH COMMERCIAL AT}",
)


def content(table: pa.Table, form: Format) -> bytes:
    """The table in a format.

    csv: a head, instants in ISO 8601; a spreadsheet shows all of it and computes none of it. json: a list of
    objects. parquet: a file. arrow: a file of Arrow's IPC format (Feather 2).
    """
    if form == "csv":
        return _csv(table).encode()
    if form == "json":
        return f"{json_text(plain(table.to_pylist()))}\n".encode()
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    if form == "parquet":
        pq.write_table(table, out)
    else:
        with pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue().to_pybytes()


def write_table(table: pa.Table, form: Format, path: Path) -> None:
    """The table as a file."""
    try:
        path.write_bytes(content(table, form))
    except OSError as wrong:
        raise DefinitionError(f"--out {path}: {wrong.strerror or wrong}") from wrong


def _csv(table: pa.Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(no_formula, table.column_names))
    writer.writerows([no_formula(plain(value)) for value in row.values()] for row in table.to_pylist())
    return text.getvalue()


def no_formula(value: object) -> object:
    """A value that no spreadsheet takes for a formula: a text that begins as a formula begins stands behind
    an apostrophe, which they hide.

    >>> [no_formula(value) for value in ("=1+1", "-", "a=b", -1, None)]
    ["'=1+1", "'-", 'a=b', -1, None]
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


_ENDINGS = {f".{form}": form for form in FORMATS}


def _format(text: str) -> Format:
    if text not in FORMATS:
        raise typer.BadParameter(
            f"there is no format {text!r}; there are {', '.join(FORMATS)}{did_you_mean(text, FORMATS)}"
        )
    return text


Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help=f"Write all windows to a file; {', '.join(_ENDINGS)}."),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=0,
        metavar="ROWS",
        help="At most so many; 0 is all. 20, or all with a format or a file.",
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        parser=_format,
        metavar="FORMAT",
        help=f"How the windows are written; {', '.join(FORMATS)}.",
    ),
]
Csv = Annotated[bool, typer.Option("--csv", help="As --format csv.")]


def format_asked(form: str | None, out: Path | None, *, as_csv: bool, as_json: bool) -> Format | None:
    """The format to write; None: a table for people, or the command's document."""
    if as_json + as_csv + (form is not None) > 1:
        raise typer.BadParameter("--format, --json and --csv exclude each other")
    if out is None:
        stdout_format = _format(form) if form else "csv" if as_csv else None
        if stdout_format in _BINARY and sys.stdout.isatty():
            raise typer.BadParameter(
                f"--format {stdout_format} is not for a terminal: name a file with --out, or send it to"
                " another program"
            )
        return stdout_format
    if out.suffix not in _ENDINGS and not form:
        raise typer.BadParameter(f"--out {out}: end it in {', '.join(_ENDINGS)}, or name a --format")
    return _format(form) if form else _ENDINGS[out.suffix]


def _zone_name(text: str) -> str:
    try:
        return zone(text).name
    except DefinitionError as wrong:
        raise typer.BadParameter(str(wrong).removeprefix("timezone: ")) from None


Timezone = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        parser=_zone_name,
        metavar="ZONE",
        help=(
            "Show instants by the clock of this zone, as Europe/Berlin; UTC unless said. --from and --to stay"
            " in UTC."
        ),
    ),
]


def in_zone(table: pa.Table, name: str | None) -> pa.Table:
    """The instants shown by the clock of a zone; columns of times without a zone stay as they are.

    None: all columns stay.
    """
    import pyarrow as pa

    for at, field in enumerate(table.schema) if name else ():
        if pa.types.is_timestamp(field.type) and field.type.tz:
            table = table.set_column(
                at, field.name, table[field.name].cast(pa.timestamp(field.type.unit, name))
            )
    return table


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
        onward: the end of the last line.
    """

    rows: pa.Table
    head: Mapping[str, object]
    noun: str
    limit: int | None
    timezone: str | None
    onward: str = ""


def give(result: Result, written: Format | None, out: Path | None, *, as_json: bool) -> None:
    """Print a result or write it to a file.

    `written`: the format; None: a document or a table for people.
    """
    total = len(result.rows)
    limit = result.limit if result.limit is not None else 0 if written or as_json else _LIMIT
    shown = in_zone(result.rows.slice(0, limit) if limit else result.rows, result.timezone)
    if out and written:
        write_table(shown, written, out)
        return say_what_was_done(f"{out.absolute()}: {many(len(shown), result.noun)}{result.onward}")
    if as_json:
        return say_json({**result.head, "total": total, "rows": shown.to_pylist()})
    if not written:
        return _say_table(shown, result)
    sys.stdout.flush()
    table_bytes = content(shown, written)  # on a terminal its text is printable
    sys.stdout.buffer.write(lines(table_bytes.decode()).encode() if sys.stdout.isatty() else table_bytes)
    sys.stdout.flush()
    return None


def _say_table(shown: pa.Table, result: Result) -> None:
    if len(shown):
        say(columns(shown.column_names, [[*row.values()] for row in shown.to_pylist()]) + "\n")
    more = (
        f"; {len(result.rows) - len(shown):,} more, --limit 0 shows all"
        if len(result.rows) > len(shown)
        else ""
    )
    say(f"{many(len(result.rows), result.noun)}{more}; instants in {result.timezone or 'UTC'}{result.onward}")
