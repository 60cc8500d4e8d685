"""The SQL that reads files as rows: nothing of them is left to a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.sources.casts import in_type, is_time, is_whole
from muntin.sources.hive import with_folders
from muntin.sources.reading.row_groups import ROW
from muntin.sources.topics.content import opened_as
from muntin.states.columns import FILE_PATH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.sources import Source


def quoted(name: str) -> str:
    """A column name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


# What DuckDB would otherwise guess of a file's folder or content, and drop or replace rows and columns by.
_IN_FILE = "hive_partitioning = false, hive_types_autocast = false"
_AS_IT_STANDS = f"union_by_name = true, {_IN_FILE}"
_ALL_LINES = "skip = 0, comment = ''"
_YEAR_FIRST = "dateformat = '%Y-%m-%d'"


def scan(
    source: Source,
    paths: Sequence[str],
    read_as: Mapping[str, str] | None = None,
    *,
    named: bool = False,
    rows: range | None = None,
    cast: bool = True,
) -> str:
    """The table function that reads these files in order: their own rows and columns, nothing of their folders' names.

    Args:
        source: says how the files are written.
        paths: of the files.
        read_as: name -> SQL type of all columns of JSON lines, as `read_as` gives them; without it DuckDB tells them.
        named: whether to add the column `FILE_PATH`.
        rows: of a Parquet file, the only path, the numbers of the rows that are read; None: all.
        cast: whether columns are cast to the types of `cast_behind`.
    """
    casts = cast_behind(source) if cast else {}
    if source.format == "kafka":
        return in_types(_messages(source, paths, named=named), casts)
    files = "[" + ", ".join(map(literal, paths)) + "]"
    how = f"{_AS_IT_STANDS}, filename = {literal(FILE_PATH) if named or source.hive else 'false'}"
    if source.format == "parquet":
        table = f"read_parquet({files}, {how})"
        if rows is not None:
            table = f"(FROM {table} WHERE {ROW} >= {rows.start} AND {ROW} < {rows.stop})"
        return in_types(with_columns(source, table, named=named), casts)
    if source.format == "csv":
        types = {name: _read_as(kind) for name, kind in in_every_file(source).items()}
        own = with_columns(source, f"read_csv({files}, {_dialect(source)}, {how}{_typed_csv(types)})", named=named)
        of_folders = {name: source.types[name] for name in source.hive if name in source.types}
        return in_types(own, {**of_folders, **casts})
    known = f"columns = {_by_name(read_as)}" if read_as else f"sample_size = -1, {_YEAR_FIRST}"
    return in_types(with_columns(source, f"read_json({files}, format = 'newline_delimited', {known}, {how})", named=named), casts)


def _messages(source: Source, paths: Sequence[str], *, named: bool) -> str:
    """The rows of ranges of messages. Every range has the columns of the definition, so that the first range gives them."""
    opened = [opened_as(source, path) for path in paths]  # type: ignore[arg-type]  # of this format is one kind alone
    how = f"filename = {literal(FILE_PATH) if named else 'false'}, hive_partitioning = false"
    rows = f"read_parquet([{', '.join(map(literal, opened))}], {how})"
    if named:
        plain = f"regexp_replace({FILE_PATH}, '^kafka://[0-9a-f]+@', 'kafka://') AS {FILE_PATH}"
        rows = f"(SELECT * REPLACE ({plain}) FROM {rows})"
    return rows


def with_columns(source: Source, table: str, *, named: bool = False) -> str:
    """The table with the columns that folders give, and the columns that files may lack, null where it lacks them.

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


def first_line(source: Source, path: str) -> str:
    """The query for the cells of the first line of a CSV file, as they are written."""
    return f"FROM read_csv({literal(path)}, {_dialect(source, only_header=True)}, all_varchar = true, {_IN_FILE}) LIMIT 1"


def uncast(source: Source, path: str, rejects: str) -> str:
    """The query that reads a CSV file's columns with a type of the definition, and notes each cell that has another in a table.

    `rejects`: the name of the table. DuckDB's documentation says which columns it has.
    """
    types = {column: "VARCHAR" if is_time(kind) else kind for column, kind in in_every_file(source).items()}
    columns = ", ".join(f"count({quoted(column)})" for column in types)
    notes = f"store_rejects = true, rejects_table = {literal(rejects)}, rejects_scan = {literal(rejects + '_scans')}, rejects_limit = 0"
    return f"SELECT {columns} FROM read_csv({literal(path)}, {_dialect(source)}, {notes}, {_IN_FILE}{_typed_csv(types)})"


def said_types(source: Source) -> dict[str, str]:
    """Column -> SQL type, where the definition says it: an event time of a form of its own is a text."""
    return ({source.event_time: "VARCHAR"} if source.time_format else {}) | dict(source.types)


def in_every_file(source: Source) -> dict[str, str]:
    """`said_types` of the columns that no file may lack."""
    return {column: kind for column, kind in said_types(source).items() if column not in (*source.columns, *source.hive)}


def _typed_csv(types: Mapping[str, str]) -> str:
    return f", types = {_by_name(types)}" if types else ""


def _by_name(types: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{literal(column)}: {literal(kind)}" for column, kind in types.items()) + "}"


def _dialect(source: Source, *, only_header: bool = False) -> str:
    """How a CSV file is to be taken apart. Types are guessed from the whole file; nothing else is left to DuckDB's judgement.

    `only_header`: whether the header is read as a row, and nothing but it.
    """
    how, said = source.dialect, source.dialect.facts
    quote, names = literal(how.quote), ", ".join(map(literal, how.header))
    parts = [f"delim = {literal(source.separator)}, quote = {quote}, escape = {quote}", _YEAR_FIRST]
    parts += [f"header = false, names = [{names}]" if how.header else f"header = {'false' if only_header else 'true'}", _ALL_LINES]
    parts += [f"sample_size = {1 if only_header else -1}"]
    parts += [f"nullstr = [{', '.join(map(literal, how.null))}]"] if "null" in said else []
    parts += [f"encoding = {literal(how.encoding)}"] if "encoding" in said else []
    return ", ".join([*parts, *([f"decimal_separator = {literal(how.decimal)}"] if "decimal" in said else [])])


def cast_behind(source: Source) -> dict[str, str]:
    """Column -> SQL type that it is cast to once it is read, which may fail.

    Of CSV the columns that its reader would guess, and the columns that files may lack.
    """
    if source.format != "csv":
        return dict(source.types)
    return {name: kind for name, kind in in_every_file(source).items() if _read_as(kind) != kind} | dict(source.columns)


def _read_as(kind: str) -> str:
    """The type in which a column of CSV is read. Its reader rounds 1.7 to a whole number, and takes 01-02-24 for a day of the year 1."""
    return "VARCHAR" if is_whole(kind) or is_time(kind) else kind


def in_types(table: str, types: Mapping[str, str]) -> str:
    """The table with some columns cast to SQL types."""
    casts = ", ".join(f"{in_type(quoted(column), kind)} AS {quoted(column)}" for column, kind in types.items())
    return f"(SELECT * REPLACE ({casts}) FROM {table})" if casts else table
