"""Where rows of the quarantine stand: file, position in the file, and line.

Expressions that a definition computes for each row, to separate rows for which they
fail from other rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from muntin.jobs.quarantine.refused_rows_kept import BAD, KEPT, REFUSED
from muntin.jobs.state.bound import Bound
from muntin.sources.reading.mended import Mended
from muntin.sources.sessions.duckdb_session import described
from muntin.sources.sessions.row_expressions import RowExpression, row_expressions
from muntin.sources.source import Source
from muntin.states.columns import FAULT, FILE_PATH, ROW_IN_SPLIT, SOURCE_ROWS


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that cannot be computed for some rows.

    Attributes:
        reason: what, in words.
        column: the column that it is about; None: the definition is.
        condition: SQL that is true for the rows.
    """

    reason: str
    column: str | None
    condition: str


def row_faults(session: duckdb.DuckDBPyConnection, bound: Bound, rows: str) -> list[Fault]:
    """The expressions of a definition that may fail for a row. DuckDB cannot try a query inside of an
    expression: queries are left out.

    `rows`: a relation with the columns that lifts read.
    """
    faults = dict[str, Fault]()
    for what, each in _expressions(bound):
        if each.fails not in faults and _binds(session, each.fails, rows):
            faults[each.fails] = Fault(f"{what}: {each.sql} cannot be computed", None, each.fails)
    return list(faults.values())


def first_fault(faults: Sequence[Fault]) -> str:
    """SQL for the number of the first fault of a row, null without any."""
    return (
        "CASE "
        + " ".join(f"WHEN {each.condition} THEN {number}" for number, each in enumerate(faults))
        + " END"
        if faults
        else "NULL"
    )


def _expressions(bound: Bound) -> Iterator[tuple[str, RowExpression]]:
    """The name and the SQL of each expression of a row.

    Only the filter is computed for rows that it leaves out.
    """
    conditions: tuple[str, ...] = ()
    if where := bound.pipeline.filter:
        conditions = (where,)
        yield "where", RowExpression(where)
    for name, aggregate in bound.own_aggregates.items():
        for field in aggregate.fields:
            for lift in field.lifts.values():
                yield from ((f"aggregates[{name!r}]", each) for each in row_expressions(lift, conditions))
    for frames in bound.frame_sets:
        for lift in frames.lifts.values():
            yield from (
                (f"windows[{frames.windows[0]!r}]", each) for each in row_expressions(lift, conditions)
            )


def _binds(session: duckdb.DuckDBPyConnection, condition: str, rows: str) -> bool:
    with suppress(duckdb.Error):
        return bool(described(session, f"SELECT {condition} FROM {rows} AS {SOURCE_ROWS}"))
    return False


_NO_LINE = -1
_BEGINS = f"SELECT {FILE_PATH}, min({ROW_IN_SPLIT}) FROM (FROM {KEPT} UNION ALL FROM {BAD}) GROUP BY ALL"


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
    from muntin.sources.reading.mended_files import lines_of

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
