"""The SQL that adds to rows when they happened, when they arrived, and where they stood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.errors import SourceError
from muntin.sources.casts import INTEGERS, YEAR_FIRST
from muntin.sources.reading.column_hints import check_named, no_column
from muntin.sources.reading.scan import literal, quoted
from muntin.sources.repeated_rows import identity
from muntin.states.columns import ARRIVAL_TIME, EVENT_TIME, FILE_NUMBER, IDENTITY, ORDER, ORDINAL, ROW_BATCH, ROW_IN_SPLIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.sources import Source

_PER_UNIT = {"s": 1_000_000, "ms": 1_000, "us": 1}
_WHOLE = r"\s*[-+]?\d+(\.0*)?\s*"


def event_time(source: Source, columns: Mapping[str, str]) -> str:
    """SQL for the event time in microseconds since 1970 UTC; null where it cannot be read.

    Raises:
        SourceError: as `instant`.
    """
    return instant(source, source.event_time, "event_time", columns)


def is_event_time(name: str, columns: Mapping[str, str], value: str) -> bool:
    """Whether a SQL expression surely gives the event time of each accepted row in microseconds.

    >>> is_event_time("t", {"t": "TIMESTAMP WITH TIME ZONE"}, "epoch_us((t)::TIMESTAMPTZ)")
    True

    Args:
        name: of the column with the event time.
        columns: name -> SQL type of the source's columns.
        value: the expression.
    """
    same = columns.get(name) == "TIMESTAMP WITH TIME ZONE"
    return same and value in (f"epoch_us(({name})::TIMESTAMPTZ)", f"epoch_us(({quoted(name)})::TIMESTAMPTZ)")


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
    if name not in columns:
        raise SourceError(no_column(what, name, columns, source))
    column, kind = quoted(name), columns[name]
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        return _of_timestamp(column, kind, source.timezone)
    if kind in INTEGERS and source.unit:
        return _counted(f"try_cast({column} AS HUGEINT)", source.unit)
    if kind == "VARCHAR" and source.unit:
        return _counted(f"try_cast(CASE WHEN regexp_full_match({column}, '{_WHOLE}') THEN {column} END AS HUGEINT)", source.unit)
    if kind == "VARCHAR" and source.time_format:
        return _finite_us(f"try_strptime({column}, {literal(source.time_format)})::TIMESTAMPTZ")
    if kind == "VARCHAR":
        return _finite_us(f"try_cast(CASE WHEN regexp_matches({column}, '{YEAR_FIRST}') THEN {column} END AS TIMESTAMPTZ)")
    mend = f'say unit="s", "ms", "us" or "ns" in {source.call}' if kind in INTEGERS else "name a timestamp, an integer or a text column"
    raise SourceError(f"{what}: column {name!r} is {kind}; {mend}")


def _counted(units: str, unit: str) -> str:
    """SQL for whole units since 1970 in microseconds; nanoseconds are cut off downwards, before 1970 too."""
    if unit == "ns":
        return f"try_cast(({units} - (({units} % 1000) + 1000) % 1000) // 1000 AS BIGINT)"
    return f"try_cast({units} * {_PER_UNIT[unit]} AS BIGINT)"


def _of_timestamp(column: str, kind: str, timezone: str | None) -> str:
    if kind.endswith("_NS"):
        whole = kind.removesuffix("_NS").replace("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
        made = "make_timestamp" if whole == "TIMESTAMP" else "make_timestamptz"
        return _of_timestamp(f"{made}({_counted(f'epoch_ns({column})', 'ns')})", whole, timezone)
    if kind == "TIMESTAMP WITH TIME ZONE" or timezone is None:
        return _finite_us(column if kind != "DATE" else f"{column}::TIMESTAMP")
    return _finite_us(f"timezone({literal(timezone)}, {column}::TIMESTAMP)")


def _finite_us(moment: str) -> str:
    return f"CASE WHEN isfinite({moment}) THEN epoch_us({moment}) END"


def staged(source: Source, rows: str, columns: Mapping[str, str], *, ordinal: bool) -> str:
    """The rows of a split with `EVENT_TIME` and, if asked, `ROW_IN_SPLIT` and `ORDINAL`, their positions as read and by arrival."""
    if not ordinal:
        return _timed(source, rows, columns, "")
    rows, order = f"(SELECT *, row_number() OVER () AS {ROW_IN_SPLIT} FROM {rows})", _by_arrival(source)
    place = f"row_number() OVER ({order})" if order else ROW_IN_SPLIT
    return _timed(source, rows, columns, f", {place} AS {ORDINAL}")


def without_rows(source: Source, columns: Mapping[str, str]) -> str:
    """A relation without rows that has the columns of a source and the columns that `staged` adds. `columns`: name -> SQL type.

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
    check_named(source, columns)
    if source.arrival_time:
        place += f", {instant(source, source.arrival_time, 'arrival_time', columns)} AS {ARRIVAL_TIME}"
    if source.dedupe:
        place += f", {identity([*map(quoted, source.dedupe)])} AS {IDENTITY}"
    if section := source.section:
        place += f", dense_rank() OVER ({apart}ORDER BY {', '.join(map(quoted, section))}) AS {FILE_NUMBER}"
    return f"SELECT *, {event_time(source, columns)} AS {EVENT_TIME}, {EVENT_TIME} AS {ORDER}{place} FROM {rows}"
