"""The SQL that reads files as rows: nothing of them is left to a guess."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from muntin.files.some_rows import FILE_NUMBER, ROW, file_of, in_part
from muntin.sources.casts import INSTANTS, carry, in_type, is_number, is_time, with_point
from muntin.sources.nested_types import is_nested
from muntin.sources.path_templates import with_folders
from muntin.sources.sessions.listed_files import PLAIN, address_of, encoding_of
from muntin.states.columns import FILE_PATH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.sources.source import Columns, Source


def quoted(name: str) -> str:
    """A column name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def aliased(sql_of: Columns) -> str:
    """Columns as SQL chooses them. `sql_of`: name -> SQL."""
    return ", ".join(f"{sql} AS {quoted(name)}" for name, sql in sql_of.items())


def nulls(types: Columns) -> str:
    """Columns without a value, as SQL chooses them. `types`: name -> SQL type."""
    return aliased({name: f"NULL::{kind}" for name, kind in types.items()})


def files_sql(source: Source, paths: Sequence[str]) -> str:
    """Listed files as SQL has them, each path to the letter.

    No path goes into SQL as what is read by another way.
    """
    addresses = (literal(address_of(source.opened_as(file_of(path)), encoding_of(source))) for path in paths)
    return f"[{', '.join(addresses)}]"


@dataclass(frozen=True, slots=True)
class ReadAs:
    """The types of columns, as files are read.

    Attributes:
        types: name -> SQL type of all columns, for the reader of text files; {}: it tells them itself.
        carried: name -> SQL type of a column in its file, where `carry` makes of it what states have.
        left_out: columns with names that are ours, which no definition uses.
        fractions: columns of JSON with numbers that its reader may round before anybody says a type.
    """

    types: Columns = field(default_factory=dict)
    carried: Columns = field(default_factory=dict)
    left_out: Sequence[str] = ()
    fractions: Sequence[str] = ()


class Cast(NamedTuple):
    """A change of a column once it is read: the SQL, which may fail, and what that means."""

    sql: str
    fault: str


UNTOLD = ReadAs()
# What DuckDB would otherwise guess of a file's folder or content, and drop or replace rows and columns by.
_IN_FILE = "hive_partitioning = false, hive_types_autocast = false"
_AS_IT_STANDS = f"union_by_name = true, {_IN_FILE}"
_AS_TEXT = f"{_AS_IT_STANDS}, compression = 'none'"  # `files_sql` gives plain text
_ALL_LINES = "skip = 0, comment = ''"
_YEAR_FIRST = "dateformat = '%Y-%m-%d'"
_LOST = {
    "DOUBLE": "a number that no double is",
    "BIGINT": "a text that is no plain number",
    **dict.fromkeys(INSTANTS, "a time with digits finer than a microsecond, or with the name of a zone"),
}
"""The type of a column of text -> what a value is that the type does not have."""
_GUESSED_JSON = f"sample_size = -1, map_inference_threshold = -1, {_YEAR_FIRST}"


def scan(
    source: Source,
    paths: Sequence[str],
    read_as: ReadAs = UNTOLD,
    *,
    named: bool = False,
    rows: range | None = None,
    cast: bool = True,
) -> str:
    """The table function that reads these files in order: their own rows and columns, nothing of their
    folders' names.

    `read_as`: the types as `column_types` gives them; without it DuckDB tells them. `named`: whether to add
    the column `FILE_PATH`. `rows`: of a Parquet file, the only path, the numbers of the rows that are read;
    None: all. `cast`: whether columns are made what `cast_behind` says.
    """
    if source.message_columns:
        table = _messages(source, paths, named=named)
    else:
        table = with_columns(source, _files(source, paths, read_as, named=named, rows=rows), named=named)
        if read_as.left_out:
            table = f"(SELECT * EXCLUDE ({', '.join(map(quoted, read_as.left_out))}) FROM {table})"
    return with_casts(table, {name: each.sql for name, each in cast_behind(source, read_as).items() if cast})


def _files(source: Source, paths: Sequence[str], read_as: ReadAs, *, named: bool, rows: range | None) -> str:
    """The table function of DuckDB."""
    files = files_sql(source, paths)
    name = f"filename = {literal(FILE_PATH) if named or source.hive else 'false'}"
    if source.format == "parquet":
        return _parquet(source, paths, name, rows, named=named or bool(source.hive))
    if source.format == "csv":
        typed = _typed_csv(read_as.types or read_types(source))
        return _by_path(
            f"read_csv({files}, {_dialect(source, looked_at=not read_as.types)}, {_AS_TEXT}, {name}{typed})",
            files,
            named=named,
        )
    columns_sql = f"columns = {_by_name(read_as.types)}" if read_as.types else _GUESSED_JSON
    return _by_path(
        f"read_json({files}, format = 'newline_delimited', {columns_sql}, {_AS_TEXT}, {name})",
        files,
        named=named,
    )


def _parquet(source: Source, paths: Sequence[str], name: str, rows: range | None, *, named: bool) -> str:
    """The rows of files of Parquet, with the columns of their table where it knows them by number."""
    relations = list[str]()

    def by_number(path: str) -> tuple[tuple[str, str], ...]:
        if not source.numbered:
            return ()
        from muntin.sources.logged.numbered_fields import selected

        return selected(source.numbered, path)

    for chosen, group in groupby(paths, by_number):
        files = [*group]
        table = f"read_parquet({files_sql(source, files)}, {_AS_IT_STANDS}, {name})"
        columns = ", ".join(
            [
                *(f"{sql} AS {quoted(column)}" for sql, column in chosen),
                *([FILE_PATH] if chosen and named else []),
            ]
        )
        conditions = [] if rows is None else [f"{ROW} >= {rows.start} AND {ROW} < {rows.stop}"]
        if in_part(files):
            from muntin.sources.logged.deletion_vectors import rows_sql

            conditions += filter(None, [rows_sql(files)])
            if named:  # a file may be read twice, for other rows
                table = f"(SELECT *, {FILE_NUMBER}, {ROW} FROM {table})"
                path = f"([{', '.join(map(literal, files))}])[{FILE_NUMBER}::BIGINT + 1]"
                table = f"(SELECT * REPLACE ({path} AS {FILE_PATH}) FROM {table})"
                columns = columns or f"* EXCLUDE ({FILE_NUMBER}, {ROW})"
        part = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        relations.append(f"(SELECT {columns or '*'} FROM {table}{part})" if columns or part else table)
    return (
        relations[0]
        if len(relations) == 1
        else f"({' UNION ALL BY NAME '.join(f'FROM {each}' for each in relations)})"
    )


def _by_path(table: str, files: str, *, named: bool) -> str:
    """A table of rows of text with the paths of their files, where DuckDB calls these by an address."""
    if not named or not re.search(f"'{PLAIN}", files):
        return table
    return f"(SELECT * REPLACE (regexp_replace({FILE_PATH}, '^{PLAIN}', '') AS {FILE_PATH}) FROM {table})"


def _messages(source: Source, paths: Sequence[str], *, named: bool) -> str:
    """The rows of ranges of messages.

    Every range has the columns of the definition, so that the first range gives them.
    """
    how = f"filename = {literal(FILE_PATH) if named else 'false'}, hive_partitioning = false"
    rows = f"read_parquet({files_sql(source, paths)}, {how})"
    if named:
        plain = f"regexp_replace({FILE_PATH}, '^([a-z]+://)[0-9a-f]+@', '\\1') AS {FILE_PATH}"
        rows = f"(SELECT * REPLACE ({plain}) FROM {rows})"
    return rows


def with_columns(source: Source, table: str, *, named: bool = False) -> str:
    """The table with the columns that folders give, and the columns that files may lack, null where it lacks
    them.

    `named`: whether the column `FILE_PATH` is wanted.
    """
    if source.hive:
        table = with_folders(source.hive, table, FILE_PATH, named=named)
    return _with_nulls(table, source.columns)


def _with_nulls(table: str, types: Columns) -> str:
    """A table with all of some columns, null where it lacks them."""
    return f"(FROM {table} UNION ALL BY NAME SELECT {nulls(types)} WHERE false)" if types else table


def texts(source: Source, path: str, columns: Columns | None = None) -> str:
    """The table of some columns of a file of CSV or JSON as they are written, null where the file lacks them.

    `columns`: name -> SQL type in which every text is a VARCHAR; of CSV all are read as VARCHAR.
    None: the columns of a CSV file.
    """
    if source.format == "json":
        return (
            f"read_json({files_sql(source, [path])}, format = 'newline_delimited', columns ="
            f" {_by_name(columns or {})}, {_AS_TEXT})"
        )
    own = (
        f"read_csv({files_sql(source, [path])}, {_dialect(source, looked_at=False)}, all_varchar = true,"
        f" {_AS_TEXT})"
    )
    return _with_nulls(own, dict.fromkeys(columns or (), "VARCHAR"))


def first_line(source: Source, path: str) -> str:
    """The query for the cells of the first line of a CSV file, as they are written."""
    return (
        f"FROM read_csv({files_sql(source, [path])}, {_dialect(source, only_header=True)}, all_varchar ="
        f" true, {_AS_TEXT}) LIMIT 1"
    )


def uncast(source: Source, path: str, rejects: str) -> str:
    """The query that reads a CSV file's columns with a type of the definition, and notes each cell that has
    another in a table.

    `rejects`: the name of the table. DuckDB's documentation says which columns it has.
    """
    # of whole numbers the reader knows no fraction behind a comma, and it takes thousands anywhere
    marks = source.dialect.decimal != "." or bool(source.dialect.thousands)
    texts = {column for column, kind in source.types.items() if is_time(kind) or (marks and is_number(kind))}
    types = {column: "VARCHAR" if column in texts else kind for column, kind in in_every_file(source).items()}
    columns = ", ".join(f"count({quoted(column)})" for column in types)
    notes = (
        f"store_rejects = true, rejects_table = {literal(rejects)}, rejects_scan ="
        f" {literal(rejects + '_scans')}, rejects_limit = 0"
    )
    how = f"{_dialect(source)}, {notes}, {_IN_FILE}, compression = 'none'{_typed_csv(types)}"
    return f"SELECT {columns} FROM read_csv({files_sql(source, [path])}, {how})"


def said_types(source: Source) -> dict[str, str]:
    """Column -> SQL type, where the definition says it: an event time of a form of its own is a text."""
    return ({source.event_time: "VARCHAR"} if source.time_format else {}) | dict(source.types)


def in_every_file(source: Source) -> dict[str, str]:
    """`said_types` of the columns that no file may lack."""
    return {
        column: kind
        for column, kind in said_types(source).items()
        if column not in (*source.columns, *source.hive)
    }


def _typed_csv(types: Columns) -> str:
    return f", types = {_by_name(types)}" if types else ""


def _by_name(types: Columns) -> str:
    return "{" + ", ".join(f"{literal(column)}: {literal(kind)}" for column, kind in types.items()) + "}"


def _dialect(source: Source, *, only_header: bool = False, looked_at: bool = True) -> str:
    """How a CSV file is to be taken apart. Types are told from all cells, or given; nothing is left to
    DuckDB's judgement.

    `only_header`: whether the header is read as a row, and nothing but it. `looked_at`: whether types are
    told from the cells.
    """
    how, said = source.dialect, source.dialect.facts
    quote = literal(how.quote)
    names = ", ".join(map(literal, how.header))
    header = (
        f"header = false, names = [{names}]" if how.header else f"header = {str(not only_header).lower()}"
    )
    parts = [f"delim = {literal(source.separator)}, quote = {quote}, escape = {quote}", _YEAR_FIRST]
    parts += [header, _ALL_LINES, f"sample_size = {-1 if looked_at and not only_header else 1}"]
    parts += [f"nullstr = [{', '.join(map(literal, how.null))}]"] if "null" in said else []
    parts += [f"decimal_separator = {literal(how.decimal)}"] if "decimal" in said else []
    parts += [f"thousands = {literal(how.thousands)}"] if how.thousands else []
    return ", ".join(parts)


def read_types(source: Source) -> dict[str, str]:
    """Column -> SQL type in which CSV is read, where the definition says a type."""
    return {name: _read_as(kind) for name, kind in in_every_file(source).items()}


def cast_behind(source: Source, read_as: ReadAs = UNTOLD) -> dict[str, Cast]:
    """Column -> what is made of it once it is read.

    Of types of the definition: of CSV the columns that its reader would guess, that files may lack, or that
    folders give.
    """
    said = dict(source.types)
    times = (source.event_time, source.arrival_time)
    if source.format == "csv":
        folders = {name: source.types[name] for name in source.hive if name in source.types}
        reread = {name: kind for name, kind in in_every_file(source).items() if _read_as(kind) != kind}
        said = {**reread, **source.columns, **folders}
    written, out = source.dialect, {}

    def value_of(name: str, kind: str) -> str:
        text = quoted(name)
        return with_point(text, written.decimal, written.thousands) if is_number(kind) else text

    for name, kind in read_as.carried.items():
        lost = _LOST.get(kind, f"more than states have of a {kind}")
        mend = f"say types={{'{name}': 'VARCHAR'}}" + (
            ", or 'DOUBLE', which rounds it" if "DOUBLE" in kind else ""
        )
        out[name] = Cast(
            carry(value_of(name, kind), kind, source.format, cut=name in times),
            f"{name} holds {lost}; {mend}",
        )
    casts = {name: in_type(value_of(name, kind), kind, cut=name in times) for name, kind in said.items()}
    return out | {name: Cast(sql, f"{name} cannot be read as {said[name]}") for name, sql in casts.items()}


def _read_as(kind: str) -> str:
    """The type in which a column of CSV is read.

    Its reader rounds 1.7 to a whole number, takes 12_5 for 125, and 01-02-24 for a day.
    """
    return "VARCHAR" if is_number(kind) or is_time(kind) or is_nested(kind) else kind


def with_casts(table: str, casts: Columns) -> str:
    """The table with other values in some columns: name -> SQL."""
    return f"(SELECT * REPLACE ({aliased(casts)}) FROM {table})" if casts else table
