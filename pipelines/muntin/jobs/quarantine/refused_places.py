"""Where rows of the quarantine stand: file, position in the file, and line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from muntin.sources.reading.mended_files import lines_of
from muntin.states.columns import FAULT, FILE_PATH, ROW_IN_SPLIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from muntin.jobs.quarantine.row_faults import Fault
    from muntin.sources.reading.mended import Mended
    from muntin.sources.source import Source

KEPT, BAD, ONCE = "muntin_rows", "muntin_bad", "muntin_once"
"""The tables of a split's rows: those that can be computed, the others, and those of the first without
duplicates.
"""
_NO_LINE = -1
_BEGINS = f"SELECT {FILE_PATH}, min({ROW_IN_SPLIT}) FROM (FROM {KEPT} UNION ALL FROM {BAD}) GROUP BY ALL"
REFUSED = pa.schema(
    [
        ("reason", pa.string()),
        ("file", pa.string()),
        ("position", pa.int64()),
        ("event_time", pa.string()),
        ("row", pa.string()),
        ("line", pa.int64()),
        ("column", pa.string()),
    ]
)


def rows_by_file(session: duckdb.DuckDBPyConnection, paths: Sequence[str], *tables: str) -> list[int]:
    """How many rows of each file some tables hold together."""
    rows = " UNION ALL ".join(f"FROM {table}" for table in tables)
    counted = dict(session.execute(f"SELECT {FILE_PATH}, count(*) FROM ({rows}) GROUP BY ALL").fetchall())
    return [counted.get(path, 0) for path in paths]


def with_lines(session: duckdb.DuckDBPyConnection, source: Source, table: pa.Table) -> pa.Table:
    """Refused rows of files without bad rows, with their lines, where files have lines.

    `table`: with file and position.
    """
    if source.format not in ("csv", "json") and not source.message_columns:
        return table
    files, position = np.array(table["file"].to_pylist(), object), table["position"].to_numpy()
    line_numbers = np.full(len(table), _NO_LINE, np.int64)
    for path in dict.fromkeys(files.tolist()):
        lines = lines_of(session, source, path, *rows_by_file(session, [path], KEPT))
        line_numbers[files == path] = _NO_LINE if lines is None else lines[position[files == path]]
    at = table.schema.get_field_index("line")
    return table.set_column(at, "line", pa.array(line_numbers, mask=line_numbers == _NO_LINE))


def placed(
    session: duckdb.DuckDBPyConnection,
    table: pa.Table,
    files: Mended,
    faults: Sequence[Fault],
    *,
    first: int = 0,
) -> pa.Table:
    """Rows that were refused or left out, and the bad rows of files, in the order of files and positions.

    The session has the tables `KEPT` and `BAD`. `table`: as `faulty` tells it. `faults`: by their numbers.
    `first`: the number of the first row that was read in its file.
    """
    begins = dict(session.execute(_BEGINS).fetchall())
    rows = [*_in_files(table, begins, files, faults, first), *_of_bad_rows(files)]
    order = {path: number for number, path in enumerate(files.whole)}
    return pa.Table.from_pylist(
        sorted(rows, key=lambda row: (order[row["file"]], row["position"] or 0)), REFUSED
    )


def bad_rows(files: Mended) -> pa.Table:
    """The bad rows of files, as `placed` gives them."""
    return pa.Table.from_pylist([*_of_bad_rows(files)], REFUSED)


def _in_files(
    table: pa.Table, begins: dict[str, int], files: Mended, faults: Sequence[Fault], first: int
) -> Iterator[dict[str, Any]]:
    for row in table.to_pylist():
        path = row[FILE_PATH]
        at = row[ROW_IN_SPLIT] - begins[path] + first
        position, line = (
            (int(each[at]) for each in files.places[path]) if path in files.places else (at, None)
        )
        fault = None if row[FAULT] is None else faults[row[FAULT]]
        fault_facts = {"reason": fault.reason, "column": fault.column} if fault else {}
        yield {**row, "file": files.of(path), "position": position, "line": line, **fault_facts}


def _of_bad_rows(files: Mended) -> Iterator[dict[str, Any]]:
    for bad in files.bad:
        yield {
            "reason": bad.reason,
            "file": bad.file,
            "position": bad.position,
            "event_time": None,
            "row": bad.text,
            "line": bad.line,
            "column": bad.column,
        }
