"""A table as CSV, JSON, Parquet or Arrow: the same bytes on stdout and in a file."""

from __future__ import annotations

import csv
import io
import sys
from typing import TYPE_CHECKING, Literal, get_args

import typer

from muntin.cli.output import json_text, plain
from muntin.errors import DefinitionError
from muntin.printable import lines

if TYPE_CHECKING:
    from pathlib import Path

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
    match form:
        case "csv":
            return _csv(table).encode()
        case "json":
            return f"{json_text(plain(table.to_pylist()))}\n".encode()
        case "parquet" | "arrow":
            return _parquet(table) if form == "parquet" else _arrow(table)


def print_table(table: pa.Table, form: Format) -> None:
    """The table on stdout; on a terminal its text is printable."""
    sys.stdout.flush()
    table_bytes = content(table, form)
    sys.stdout.buffer.write(lines(table_bytes.decode()).encode() if sys.stdout.isatty() else table_bytes)
    sys.stdout.flush()


def check_place(form: Format | None) -> None:
    """Refuse to write a binary format to a terminal."""
    if form in _BINARY and sys.stdout.isatty():
        raise typer.BadParameter(
            f"--format {form} is not for a terminal: name a file with --out, or send it to another program"
        )


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


def _parquet(table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    return out.getvalue().to_pybytes()


def _arrow(table: pa.Table) -> bytes:
    import pyarrow as pa

    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue().to_pybytes()
