"""The rows of a table that says where windows lie: files or a Delta table, read as a whole and refused as a
whole.

A row that is no span would remove a window silently: so nothing is left out, and the error names the row and
the mend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from muntin.definition.durations import spell
from muntin.definition.given_table import GivenTable
from muntin.definition.instants import spell_instant
from muntin.definition.spelling import many
from muntin.engine.given_spans import END, START, GivenSpans, given_spans, repeated_rows
from muntin.errors import SourceError
from muntin.sources.file_arguments import files
from muntin.sources.reading.column_hints import no_column
from muntin.sources.reading.column_types import column_types
from muntin.sources.reading.row_times import instant
from muntin.sources.reading.scan import quoted, scan
from muntin.sources.reading.sql_types import stored_type
from muntin.sources.sessions.duckdb_session import explained, kept_session
from muntin.sources.sessions.fetched_files import asked_once
from muntin.sources.sessions.listed_files import let_read
from muntin.sources.source import Source
from muntin.sources.whole_tables import table_now
from muntin.states.columns import INSTANT
from muntin.states.derived_columns import storable_type
from muntin.states.frames import Ints
from muntin.states.keys import contiguous

Text = Callable[[str, int], str | None]  # name of a column, number of a row -> what stands there


def rows_given(table: GivenTable, resolution_us: int) -> GivenSpans:
    """The spans of a table as it is now."""
    paths: list[str] = []
    try:
        with table_now(_source(table)) as whole:
            paths = whole.paths
            with asked_once(paths):
                return _checked(table, resolution_us, *_read(table, whole.source, paths), whole.version)
    except duckdb.Error as wrong:
        raise SourceError(f"windows.given, table {table.named}: {explained(wrong, paths)}") from wrong
    except SourceError as wrong:
        raise type(wrong)(f"windows.given, table {table.named}: {wrong}") from wrong


def _source(table: GivenTable) -> Any:  # noqa: ANN401 - a source of any kind
    """The source with both times of a span as times of the row: they have one unit, zone and form."""
    source = table.source
    if isinstance(source, str):
        source = files(source, event_time=table.start, all_files=True)
    return replace(source, event_time=table.start, arrival_time=table.end)


def _read(table: GivenTable, source: Source, paths: Sequence[str]) -> tuple[pa.Table, Text]:
    """The columns of the spans, and what gives the text of a column in a row."""
    wanted = (*table.keys, *table.columns)
    if not paths:
        if getattr(source, "missing", "") == "error":
            raise SourceError(
                'there is no file; of no spans there is a file without rows, or say missing="empty" in'
                " sources.files(...)"
            )
        kinds = {**dict.fromkeys(wanted, pa.null()), START: pa.int64(), END: pa.int64()}
        return pa.schema(kinds).empty_table(), lambda *_: None
    session = kept_session(source.timezone)
    let_read(session, source, paths)
    used = {name.lower() for name in (*wanted, table.start, table.end)}
    read_as, columns = column_types(session, source, paths, lambda name: name.lower() in used)
    for what, names in (("keys", table.keys), ("columns", table.columns)):
        for name in names:
            if name not in columns:
                raise SourceError(no_column(what, name, columns, source))
    times = {
        START: instant(source, table.start, "start", columns),
        END: instant(source, table.end, "end", columns),
    }
    stored = (f"{quoted(name)}::{stored_type(columns[name])} AS {quoted(name)}" for name in wanted)
    chosen = [*stored, *(f"{sql} AS {name}" for name, sql in times.items())]
    files = scan(source, paths, read_as)

    def text(name: str, row: int) -> str | None:
        texts = session.execute(
            f"SELECT {quoted(name)}::VARCHAR FROM {files} LIMIT 1 OFFSET {row}"
        ).fetchall()
        return texts[0][0] if texts else None  # files may have changed since

    return session.sql(f"SELECT {', '.join(chosen)} FROM {files}").to_arrow_table(), text


def _checked(table: GivenTable, resolution_us: int, rows: pa.Table, text: Text, version: str) -> GivenSpans:
    """The spans of the rows. A row that is no span is refused."""
    names = {START: table.start, END: table.end}
    for name, column in names.items():
        _refuse(
            np.flatnonzero(rows[name].is_null().to_numpy()),
            column,
            text,
            f"{column} is no time",
            "each span has a start and an end",
        )
    start, end = (rows[name].to_numpy() for name in (START, END))
    _refuse(
        np.flatnonzero(end <= start),
        table.end,
        text,
        f"{table.end} is not after {table.start}",
        "a span ends after it starts",
    )
    for us, column in ((start, table.start), (end, table.end)):
        what = f"{column} is no whole multiple of {spell(resolution_us)}"
        _refuse(
            np.flatnonzero(us % resolution_us),
            column,
            text,
            what,
            'say a finer resolution=, as "1s", in windows.given(...)',
        )
    columns = {name: contiguous(rows[name]) for name in (*table.keys, *table.columns)}
    for name, column in columns.items():
        if pa.types.is_nested(column.type):
            raise SourceError(
                f"{name} is {column.type}; keys and columns of spans are plain values: leave it out, or give"
                " a part of it"
            )
    stored = {name: column.cast(storable_type(column.type)) for name, column in columns.items()}
    times = {START: pa.array(start).view(INSTANT), END: pa.array(end).view(INSTANT)}
    spans = given_spans(pa.table(stored | times), table.keys, ", ".join(filter(None, (table.named, version))))
    if len(twice := repeated_rows(spans)):
        at = spans.table.slice(int(twice[0]), 1).to_pylist()[0]
        cells = ", ".join(f"{name} {value}" for name, value in at.items() if name not in (START, END))
        since, until = (spell_instant(int(each[twice[0]])) for each in (spans.start, spans.end))
        raise SourceError(
            f"{many(len(twice), 'row')} too many, the first of the span from {since} to"
            f" {until}{cells and ', ' + cells}, which stands there twice: both would be one window; leave one"
            " out, or name a column in columns= that tells them apart"
        )
    return spans


def _refuse(bad: Ints, column: str, text: Text, what: str, mend: str) -> None:
    if len(bad):
        value = text(column, int(bad[0]))
        more = f", and of {len(bad) - 1:,} more" if len(bad) > 1 else ""
        raise SourceError(
            f"{what}: row {int(bad[0]) + 1:,}{more} ({value if value is None else repr(value)}); {mend}"
        )
