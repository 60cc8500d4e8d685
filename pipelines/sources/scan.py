"""The SQL that reads a split's files as rows, with the event time in microseconds and the reason to refuse a row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.errors import SourceError
from pipelines.sources.hive import with_folders
from pipelines.sources.repeated_rows import identity
from pipelines.sources.row_groups import ROW
from pipelines.sources.topics.content import opened_as
from pipelines.states.columns import ARRIVAL_TIME, EVENT_TIME, FILE_NUMBER, FILE_PATH, IDENTITY, ORDER, ORDINAL, ROW_BATCH, ROW_IN_SPLIT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.sources import Source

_SCALES = {"s": "* 1000000", "ms": "* 1000", "us": "", "ns": "// 1000"}
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")


def quoted(name: str) -> str:
    """A column name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


# What DuckDB would otherwise guess of a file's folder or content, and drop or replace rows and columns by.
_IN_FILE = "hive_partitioning = false, hive_types_autocast = false"
_AS_IT_STANDS = f"union_by_name = true, {_IN_FILE}"
_ALL_LINES = "skip = 0, comment = '', sample_size = -1"
_YEAR_FIRST = "dateformat = '%Y-%m-%d'"


def scan(
    source: Source, paths: Sequence[str], read_as: Mapping[str, str] | None = None, *, named: bool = False, rows: range | None = None
) -> str:
    """The table function that reads these files in order: their own rows and columns, nothing of their folders' names.

    Args:
        source: says how the files are written.
        paths: of the files.
        read_as: name -> SQL type of all columns of JSON lines, as `read_as` gives them; without it DuckDB tells them.
        named: whether to add the column `FILE_PATH`.
        rows: of a Parquet file, the only path, the numbers of the rows that are read; None: all.
    """
    if source.format == "kafka":
        return _messages(source, paths, named=named)
    files = "[" + ", ".join(map(literal, paths)) + "]"
    how = f"{_AS_IT_STANDS}, filename = {literal(FILE_PATH) if named or source.hive else 'false'}"
    if source.format == "parquet":
        table = f"read_parquet({files}, {how})"
        if rows is not None:
            table = f"(FROM {table} WHERE {ROW} >= {rows.start} AND {ROW} < {rows.stop})"
        return typed(source, with_columns(source, table, named=named))
    if source.format == "csv":
        own = with_columns(source, f"read_csv({files}, {_dialect(source)}, {how}{_typed_csv(source)})", named=named)
        return typed(
            replace(source, types={**source.columns, **{name: source.types[name] for name in source.hive if name in source.types}}), own
        )
    known = f"columns = {_by_name(read_as)}" if read_as else f"sample_size = -1, {_YEAR_FIRST}"
    return typed(source, with_columns(source, f"read_json({files}, format = 'newline_delimited', {known}, {how})", named=named))


def _messages(source: Source, paths: Sequence[str], *, named: bool) -> str:
    """The rows of ranges of messages. Their columns are those of the definition in each, so that the first tells them."""
    opened = [opened_as(source, path) for path in paths]  # type: ignore[arg-type]  # of this format is one kind alone
    how = f"filename = {literal(FILE_PATH) if named else 'false'}, hive_partitioning = false"
    rows = f"read_parquet([{', '.join(map(literal, opened))}], {how})"
    if named:
        plain = f"regexp_replace({FILE_PATH}, '^kafka://[0-9a-f]+@', 'kafka://') AS {FILE_PATH}"
        rows = f"(SELECT * REPLACE ({plain}) FROM {rows})"
    return typed(source, rows)


def with_columns(source: Source, table: str, *, named: bool = False) -> str:
    """The table with the columns that folders give, and those that files may lack, null where it lacks them.

    `named`: whether the column `FILE_PATH` is wanted.
    """
    table = with_folders(source.hive, table, FILE_PATH, named=named) if source.hive else table
    none = ", ".join(f"NULL::{kind} AS {quoted(column)}" for column, kind in source.columns.items())
    return f"(FROM {table} UNION ALL BY NAME SELECT {none} WHERE false)" if none else table


def texts(source: Source, path: str, columns: Mapping[str, str] | None = None) -> str:
    """The table of some columns of a file of CSV or JSON as they are written, null where the file lacks them.

    `columns`: name -> SQL type in which every text is a VARCHAR; of CSV all are read as VARCHAR.
    None: the columns of a CSV file.
    """
    if source.format == "json":
        return f"read_json({literal(path)}, format = 'newline_delimited', columns = {_by_name(columns or {})}, {_AS_IT_STANDS})"
    none = ", ".join(f"NULL::VARCHAR AS {quoted(column)}" for column in columns or ())
    own = f"read_csv({literal(path)}, {_dialect(source)}, all_varchar = true, {_AS_IT_STANDS})"
    if not none:
        return own
    return f"(FROM {own} UNION ALL BY NAME SELECT {none} WHERE false)"


def uncast(source: Source, path: str, rejects: str) -> str:
    """The query that reads a CSV file's columns with a type of the definition, and notes each cell that has another in a table.

    `rejects`: the name of the table. DuckDB's documentation says which columns it has.
    """
    columns = ", ".join(f"count({quoted(column)})" for column in in_every_file(source))
    notes = f"store_rejects = true, rejects_table = {literal(rejects)}, rejects_scan = {literal(rejects + '_scans')}, rejects_limit = 0"
    return f"SELECT {columns} FROM read_csv({literal(path)}, {_dialect(source)}, {notes}, {_IN_FILE}{_typed_csv(source)})"


def said_types(source: Source) -> dict[str, str]:
    """Column -> SQL type, where the definition says it: an event time of a form of its own is a text."""
    return ({source.event_time: "VARCHAR"} if source.time_format else {}) | dict(source.types)


def in_every_file(source: Source) -> dict[str, str]:
    """`said_types` of the columns that no file may lack."""
    return {column: kind for column, kind in said_types(source).items() if column not in (*source.columns, *source.hive)}


def _typed_csv(source: Source) -> str:
    types = in_every_file(source)
    return f", types = {_by_name(types)}" if types else ""


def _by_name(types: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{literal(column)}: {literal(kind)}" for column, kind in types.items()) + "}"


def _dialect(source: Source) -> str:
    """How a CSV file is to be taken apart. Types are told from the whole file; nothing else is left to DuckDB's judgement."""
    how, said = source.dialect, source.dialect.facts
    quote, names = literal(how.quote), ", ".join(map(literal, how.header))
    parts = [f"delim = {literal(source.separator)}, quote = {quote}, escape = {quote}", _YEAR_FIRST]
    parts += [f"header = false, names = [{names}]" if how.header else "header = true", _ALL_LINES]
    parts += [f"nullstr = [{', '.join(map(literal, how.null))}]"] if "null" in said else []
    parts += [f"encoding = {literal(how.encoding)}"] if "encoding" in said else []
    return ", ".join([*parts, *([f"decimal_separator = {literal(how.decimal)}"] if "decimal" in said else [])])


def typed(source: Source, table: str) -> str:
    """The table with the columns that the user gave a type cast to it."""
    casts = ", ".join(f"{quoted(column)}::{kind} AS {quoted(column)}" for column, kind in source.types.items())
    return f"(SELECT * REPLACE ({casts}) FROM {table})" if casts else table


def event_time(source: Source, columns: Mapping[str, str]) -> str:
    """SQL for the event time in microseconds since 1970 UTC; null where it cannot be read.

    Raises:
        SourceError: as `instant`.
    """
    return instant(source, source.event_time, "event_time", columns)


def instant(source: Source, name: str, what: str, columns: Mapping[str, str]) -> str:
    """SQL for a column that is a time, in microseconds since 1970 UTC; null where it cannot be read.

    Args:
        source: says which unit and zone.
        name: of the column.
        what: names it in errors.
        columns: name -> SQL type of the columns that there are.

    Raises:
        SourceError: no such column, or one of a type that is no time.
    """
    if taken := [each for each in columns if each.lower().startswith("muntin_")]:
        raise SourceError(f"column {taken[0]!r}: names that begin with muntin_ are Muntin's own; rename it in the source")
    if name not in columns:
        raise SourceError(f"{what}: no column {name!r}; there are {', '.join(columns)}")
    column, kind = quoted(name), columns[name]
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        return _of_timestamp(column, kind, source.timezone)
    if kind in _INTEGERS and source.unit:
        return f"try_cast({column}::HUGEINT {_SCALES[source.unit]} AS BIGINT)"
    if kind == "VARCHAR" and source.unit:
        return f"try_cast(try_cast({column} AS HUGEINT) {_SCALES[source.unit]} AS BIGINT)"
    if kind == "VARCHAR" and source.time_format:
        return _finite_us(f"try_strptime({column}, {literal(source.time_format)})::TIMESTAMPTZ")
    if kind == "VARCHAR":
        return _finite_us(f"try_cast({column} AS TIMESTAMPTZ)")
    mend = f'say unit="s", "ms", "us" or "ns" in {source.call}' if kind in _INTEGERS else "name a timestamp, an integer or a text column"
    raise SourceError(f"{what}: column {name!r} is {kind}; {mend}")


def _of_timestamp(column: str, kind: str, timezone: str | None) -> str:
    if kind == "TIMESTAMP WITH TIME ZONE" or timezone is None:
        return _finite_us(column if kind != "DATE" else f"{column}::TIMESTAMP")
    return _finite_us(f"timezone({literal(timezone)}, {column}::TIMESTAMP)")


def _finite_us(moment: str) -> str:
    return f"CASE WHEN isfinite({moment}) THEN epoch_us({moment}) END"


def staged(source: Source, rows: str, columns: Mapping[str, str], *, ordinal: bool) -> str:
    """The rows of a split with `EVENT_TIME` and, if asked, `ROW_IN_SPLIT` and `ORDINAL`, their positions as read and by arrival."""
    place = ""
    if ordinal:
        rows = f"(SELECT *, row_number() OVER () AS {ROW_IN_SPLIT} FROM {rows})"
        place = f", row_number() OVER ({_by_arrival(source)}) AS {ORDINAL}"
    return _timed(source, rows, columns, place)


def without_rows(source: Source, columns: Mapping[str, str]) -> str:
    """A relation without rows that has the columns of a source and those that `staged` adds. `columns`: name -> SQL type.

    Raises:
        SourceError: as `event_time`.
    """
    none = ", ".join(f"NULL::{kind} AS {quoted(name)}" for name, kind in columns.items())
    return f"(FROM ({staged(source, f'(SELECT {none})', columns, ordinal=True)}) WHERE false)"


def staged_batches(source: Source, rows: str, columns: Mapping[str, str], *, ordinal: bool) -> str:
    """The rows of several splits, each as `staged` gives it.

    `rows`: a relation with `ROW_BATCH`, another for each split, and `ROW_IN_SPLIT`.
    """
    order = _by_arrival(source)
    place = f"row_number() OVER (PARTITION BY {ROW_BATCH} {order})" if order else ROW_IN_SPLIT
    return _timed(source, rows, columns, f", {place} AS {ORDINAL}" if ordinal else "", f"PARTITION BY {ROW_BATCH} ")


def _by_arrival(source: Source) -> str:
    return f"ORDER BY {quoted(source.arrival_order)}, {ROW_IN_SPLIT}" if source.arrival_order else ""


def _timed(source: Source, rows: str, columns: Mapping[str, str], place: str, apart: str = "") -> str:
    """The rows with their times; `place`: more columns. `apart`: by what sections are counted from 1 again."""
    if source.arrival_time:
        place += f", {instant(source, source.arrival_time, 'arrival_time', columns)} AS {ARRIVAL_TIME}"
    if source.dedupe:
        place += f", {identity([*map(quoted, source.dedupe)])} AS {IDENTITY}"
    if section := source.section:
        place += f", dense_rank() OVER ({apart}ORDER BY {', '.join(map(quoted, section))}) AS {FILE_NUMBER}"
    return f"SELECT *, {event_time(source, columns)} AS {EVENT_TIME}, {EVENT_TIME} AS {ORDER}{place} FROM {rows}"
