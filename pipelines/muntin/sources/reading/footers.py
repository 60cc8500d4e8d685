"""Footers of Parquet files: the types of columns by their writers' schemas, where DuckDB takes them
for other types and says nothing; and the number of rows and their times, before the rows are read.

Decimals of more than 38 digits become doubles. Of members whose names differ only in capital letters, the
second gets a new name. A duration is a number of its unit, so that a file in nanoseconds is another than the
same in microseconds. And Spark before 3.0, or in its mode LEGACY, counts days before October 15, 1582 by the
Julian calendar (https://spark.apache.org/docs/latest/sql-migration-guide.html).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import SourceError
from muntin.files.some_rows import in_part
from muntin.sources.casts import is_time, since_clocks
from muntin.sources.logged.numbered_fields import selected
from muntin.sources.nested_types import leaves
from muntin.sources.reading.local_times import CHANGE, odd
from muntin.sources.reading.row_times import event_time, local_time
from muntin.sources.reading.scan import files_sql, literal, quoted, scan
from muntin.sources.sessions.fetched_files import footer_of
from muntin.states.columns import EVENT_TIME
from muntin.states.derived_columns import Extent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from muntin.sources.reading.refused_rows import Taken
    from muntin.sources.source import Columns, Source, Used


def told_extent(
    session: DuckDBPyConnection,
    source: Source,
    paths: Sequence[str],
    columns: Columns,
    times: Taken,
    rows: range | None,
) -> Extent | None:
    """The extent of a split's rows by the footers; None if footers have no times, or have times that are not
    taken.

    None, too, if clocks are changed between the local times of a row group: its instants need not lie between
    the instants of its ends, and local times that come twice or never are counted by rows. A writer may err
    on the times: whoever relies on them must read the rows, too. `rows`: of the only path, the numbers of the
    rows that are asked for, whole row groups; None: all.
    """
    if source.numbered and any(selected(source.numbered, path) for path in paths):
        return None  # a column of the name may be another
    if in_part(paths):
        return None  # footers have deleted rows, too
    if columns.get(source.event_time) == "DOUBLE":
        return None  # footers need not have its digits
    local = local_time(source, source.event_time, columns)
    clock, even = (f"{CHANGE}({local})", f" AND {odd(local)} = 0") if local else ("0", "")
    part, before = "", "0"
    if rows is not None:
        part = f"WHERE muntin_before >= {rows.start} AND muntin_before < {rows.stop}"
        before = (
            "sum(row_group_num_rows) OVER (PARTITION BY file_name ORDER BY row_group_id) - row_group_num_rows"
        )
    query = f"""
        WITH found AS (
            SELECT file_name AS muntin_path, row_group_id AS muntin_group, row_group_num_rows AS muntin_count,
                [stats_min_value, stats_max_value] AS muntin_ends, {before} AS muntin_before
            FROM parquet_metadata({files_sql(source, paths)})
            WHERE path_in_schema = {literal(source.event_time)} AND type <> 'BYTE_ARRAY'
        ), ends AS (
            SELECT muntin_path, muntin_group, muntin_count,
                TRY_CAST(unnest(muntin_ends) AS {columns[source.event_time]}) AS {quoted(source.event_time)}
            FROM found {part}
        )
        SELECT muntin_path, muntin_group, {clock}, muntin_count, {EVENT_TIME}, {times.condition}{even}
        FROM (SELECT *, {event_time(source, columns)} AS {EVENT_TIME} FROM ends)
    """
    # counted here: DuckDB takes longer to plan a query than to answer it
    ends = session.execute(query).fetchall()
    counts = {(path, group): count for path, group, _, count, _, _ in ends}
    clocks = {each[:3] for each in ends}
    files = {path for path, _ in counts}
    if (
        len(files) != len(paths)
        or not len(ends) == 2 * len(counts) == 2 * len(clocks)
        or not all(is_accepted for *_, is_accepted in ends)
    ):
        return None
    moments = [moment for *_, moment, _ in ends]
    return Extent(sum(counts.values()), min(moments), max(moments))


_MOST_DIGITS = 38
_SPARK = b"org.apache.spark."
_ROWS, _VERSION, _LEGACY = (
    _SPARK + b"sql.parquet.row.metadata",
    _SPARK + b"version",
    (_SPARK + b"legacyDateTime", _SPARK + b"legacyINT96"),
)
_GREGORIAN = (3, 1)  # the first version that writes no instant by the other calendar, unless it is told to


def check_declared(
    session: DuckDBPyConnection,
    source: Source,
    column_types: Columns,
    paths: Sequence[str],
    used: Used,
) -> None:
    """Refuse columns that DuckDB would read in another type."""
    for path in paths:
        with suppress(pa.ArrowException, OSError):  # a bad file, which reading tells
            schema = pq.read_schema(footer_of(path))
            _check_apart(path, schema, used)
            for field in schema:
                if used(field.name):
                    _check_type(source, path, field)
            if _is_julian(schema.metadata or {}):
                _check_days(
                    session, source, path, {name: kind for name, kind in column_types.items() if used(name)}
                )


def _check_apart(path: str, schema: pa.Schema, used: Used) -> None:
    """Refuse a used column whose name differs from another only in capital letters."""
    small = [name.lower() for name in schema.names]
    for at, name in enumerate(schema.names):
        if small[at] in small[:at] and used(name):
            raise SourceError(
                f"{path}: column {name!r} has the name of another, but for small and capital letters;"
                " rename it"
            )


def _check_type(source: Source, path: str, field: pa.Field) -> None:
    where = f"{path}: column {field.name!r}"
    for kind in _inside(field.type):
        if pa.types.is_struct(kind) and len({each.name.lower() for each in kind}) < kind.num_fields:
            raise SourceError(
                f"{where} is {field.type}, with two members whose names differ only in capital letters;"
                " rename one of them"
            )
        if field.name in source.types:
            continue
        if pa.types.is_decimal(kind) and kind.precision > _MOST_DIGITS:
            raise SourceError(
                f"{where} is decimal({kind.precision},{kind.scale}), and states have {_MOST_DIGITS} digits at"
                " most; write it as "
                f'decimal({_MOST_DIGITS},{kind.scale}), or say types={{"{field.name}": "DOUBLE"}} in'
                f" {source.call}, which rounds it"
            )
        if pa.types.is_duration(kind):
            raise SourceError(
                f"{where} is a {field.type}, of which Parquet keeps the number alone, and other files may"
                " have another unit; say "
                f'types={{"{field.name}": "BIGINT"}} in {source.call} for the number of this unit, or write'
                " seconds"
            )


def _inside(kind: pa.DataType) -> Iterator[pa.DataType]:
    yield kind
    for at in range(kind.num_fields):
        yield from _inside(kind.field(at).type)


def _is_julian(facts: Mapping[bytes, bytes]) -> bool:
    """Whether a file's facts say, or do not deny, that Spark counted its days by the Julian calendar."""
    if any(name in facts for name in _LEGACY):
        return True
    version = facts.get(_VERSION, b"0.0").decode().split(".")[:2]
    return (
        _ROWS in facts
        and tuple(int("0" + "".join(filter(str.isdigit, part))) for part in version) < _GREGORIAN
    )


def _check_days(session: DuckDBPyConnection, source: Source, path: str, column_types: Columns) -> None:
    """Refuse times of a file whose instants depend on the calendar of its writer."""
    for name, kind in column_types.items():
        if name not in source.hive and any(map(is_time, leaves(kind))):
            column = quoted(name)
            lost = f"{column} IS NOT NULL AND TRY({since_clocks(column, kind)}) IS NULL"
            rows = session.execute(
                f"SELECT {column}::VARCHAR FROM {scan(replace(source, types={}, columns={}), [path])} WHERE"
                f" {lost} LIMIT 1"
            )
            for (text,) in rows.fetchall():
                raise SourceError(
                    f"{path}: column {name!r} holds {text}, and Spark before 3.0, or with"
                    " datetimeRebaseModeInWrite=LEGACY, counts days before 1582-10-15 and instants before"
                    " 1900 by another calendar; write the file anew with Spark 3, or read it with"
                    " sources.spark(...)"
                )
