"""The SQL that adds to rows when they happened, when they arrived, and where they stood."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.errors import SourceError
from muntin.sources.casts import INTEGERS, NO_TYPE, OFFSET, YEAR_FIRST, tells_instant, with_point
from muntin.sources.reading.column_hints import check_named, no_column
from muntin.sources.reading.scan import literal, nulls, quoted
from muntin.states.columns import (
    ARRIVAL_TIME,
    EVENT_TIME,
    FILE_NUMBER,
    IDENTITY,
    ODD,
    ORDER,
    ORDINAL,
    ROW_BATCH,
    ROW_IN_SPLIT,
)

if TYPE_CHECKING:
    from muntin.sources.source import Columns, Source

_PER_UNIT = {"s": 1_000_000, "ms": 1_000, "us": 1}
_WITH_ZONE = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")
_WHOLE = r"\s*[-+]?\d+(\.0*)?\s*"
_FRACTION = r"\s*[-+]?\d+\.\d{1,18}0*\s*"
_DIGITS = "DECIMAL(38,18)"


def event_time(source: Source, columns: Columns) -> str:
    """SQL for the event time in microseconds since 1970 UTC; null where it cannot be read."""
    time = instant(source, source.event_time, "event_time", columns)
    if arrival := undecided_arrival(source, columns):
        return f"CASE WHEN NOT ({arrival[1]}) THEN {time} END"
    return time


def undecided_arrival(source: Source, columns: Columns) -> tuple[str, str] | None:
    """SQL for a local time of arrival, and for whether its instant is unknown; None where each row has an
    instant.
    """
    local = local_time(source, source.arrival_time, columns) if source.arrival_time else None
    if local is None:
        return None
    from muntin.sources.reading.local_times import at, decides

    return None if decides(source) else (local, f"{local} IS NOT NULL AND {at(source, local)} IS NULL")


def is_event_time(name: str, columns: Columns, value: str) -> bool:
    """Whether a SQL expression surely gives the event time of each accepted row in microseconds.

    >>> is_event_time("t", {"t": "TIMESTAMP WITH TIME ZONE"}, "epoch_us((t)::TIMESTAMPTZ)")
    True
    """
    same = columns.get(name) == "TIMESTAMP WITH TIME ZONE"
    return same and value in (f"epoch_us(({name})::TIMESTAMPTZ)", f"epoch_us(({quoted(name)})::TIMESTAMPTZ)")


def instant(source: Source, name: str, what: str, columns: Columns) -> str:
    """SQL for a column that is a time, in microseconds since 1970 UTC; null where it cannot be read.

    `what` names the column in errors.
    """
    if name not in columns:
        raise SourceError(no_column(what, name, columns, source))
    if columns[name] == NO_TYPE:
        return "NULL::BIGINT"
    column, kind, local = quoted(name), columns[name], local_time(source, name, columns)
    if local:
        from muntin.sources.reading.local_times import at

        if kind != "VARCHAR" or source.time_format:
            return at(source, local)
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        return _timestamp_us(column, kind)
    if counted := _of_number(source, column, kind):
        return counted
    if kind == "VARCHAR" and source.time_format:
        return _finite_us(f"try_strptime({column}, {literal(source.time_format)})::TIMESTAMPTZ")
    if kind == "VARCHAR":
        instant_us = _finite_us(
            f"try_cast(CASE WHEN {tells_instant(column)} THEN {column} END AS TIMESTAMPTZ)"
        )
        return (
            f"CASE WHEN regexp_matches({column}, '{OFFSET}') THEN {instant_us} ELSE {at(source, local)} END"
            if local
            else instant_us
        )
    mend = (
        f'say unit="s", "ms", "us" or "ns", as event_time=sources.at("{source.event_time}", unit="s")'
        if kind in INTEGERS or kind == "DOUBLE" or kind.startswith("DECIMAL(")
        else "it has too few digits for times; let it be written as DOUBLE"
        if kind == "FLOAT"
        else "name a timestamp, a number or a text column"
    )
    raise SourceError(f"{what}: column {name!r} is {kind}; {mend}")


def _of_number(source: Source, column: str, kind: str) -> str | None:
    """SQL for a number of units since 1970 in microseconds; None where a column of this type holds none."""
    unit, is_decimal = source.unit, kind.startswith("DECIMAL(")
    if not unit:
        return None
    if kind in INTEGERS:
        return _counted(f"try_cast({column} AS HUGEINT)", unit)
    if kind == "DOUBLE" or is_decimal:
        digits = column if is_decimal else f"try_cast({column}::VARCHAR AS {_DIGITS})"
        return _with_fraction(digits, unit)
    if kind != "VARCHAR":
        return None
    text = with_point(column, source.dialect.decimal, source.dialect.thousands)
    whole, digits = (
        f"try_cast(CASE WHEN regexp_full_match({text}, '{form}') THEN {text} END AS {number})"
        for form, number in ((_WHOLE, "HUGEINT"), (_FRACTION, _DIGITS))
    )
    return f"coalesce({_counted(whole, unit)}, {_with_fraction(digits, unit)})"


def _counted(units: str, unit: str) -> str:
    """SQL for whole units since 1970 in microseconds; rounded down, before 1970 too."""
    if unit == "ns":
        return f"try_cast(({units} - (({units} % 1000) + 1000) % 1000) // 1000 AS BIGINT)"
    return f"try_cast({units} * {_PER_UNIT[unit]} AS BIGINT)"


def _with_fraction(units: str, unit: str) -> str:
    """SQL for units with decimals since 1970 in microseconds; rounded down."""
    part = f"floor(({units} - floor({units})) * {_PER_UNIT.get(unit, 0)})::BIGINT"
    return f"{_counted(f'try_cast(floor({units}) AS HUGEINT)', unit)} + {part}"


def local_time(source: Source, name: str, columns: Columns) -> str | None:
    """SQL for what the clock of `timezone=` showed, in microseconds as if it were of UTC; null where a row
    tells an instant, or no time.

    None where there is no such clock, or the column tells instants. Arguments as for `instant`.
    """
    column, kind = quoted(name), columns.get(name, "")
    if source.timezone is None or kind.startswith(_WITH_ZONE):
        return None
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        return _timestamp_us(column, kind)
    if kind != "VARCHAR" or source.unit:
        return None
    if source.time_format:
        tells_zone = "%z" in source.time_format.replace("%%", "").lower()
        return None if tells_zone else _finite_us(f"try_strptime({column}, {literal(source.time_format)})")
    plain = f"regexp_matches({column}, '{YEAR_FIRST}') AND NOT regexp_matches({column}, '{OFFSET}')"
    return _finite_us(f"try_cast(CASE WHEN {plain} THEN {column} END AS TIMESTAMP)")


def _timestamp_us(column: str, kind: str) -> str:
    """SQL for a timestamp or a day in microseconds; rounded down."""
    if kind.endswith("_NS"):
        function = "make_timestamptz" if kind.startswith(_WITH_ZONE) else "make_timestamp"
        return _finite_us(f"{function}({_counted(f'epoch_ns({column})', 'ns')})")
    return _finite_us(column if kind.startswith(_WITH_ZONE) else f"{column}::TIMESTAMP")


def _finite_us(moment: str) -> str:
    return f"CASE WHEN isfinite({moment}) THEN epoch_us({moment}) END"


def staged(source: Source, rows: str, columns: Columns, *, ordinal: bool) -> str:
    """The rows of a split with `EVENT_TIME` and, if asked, `ROW_IN_SPLIT` and `ORDINAL`, their positions as
    read and by arrival.

    `FILE_NUMBER`, too, where the source tells it: it is asked for with these.
    """
    if not ordinal and source.ambiguous != "arrival":
        return _timed(source, rows, columns, "")
    rows = f"(SELECT *, row_number() OVER () AS {ROW_IN_SPLIT} FROM {rows})"
    return _timed(source, rows, columns, _place(source))


def without_rows(source: Source, columns: Columns) -> str:
    """A relation without rows that has the columns of a source and the columns that `staged` adds.

    `columns`: name -> SQL type.
    """
    # for sessions of other zones
    source = replace(source, timezone=None, ambiguous="quarantine") if source.timezone else source
    return f"(FROM ({staged(source, f'(SELECT {nulls(columns)})', columns, ordinal=True)}) WHERE false)"


def staged_batches(source: Source, rows: str, columns: Columns, *, ordinal: bool) -> str:
    """The rows of several splits, each as `staged` gives it.

    `rows`: a relation with `ROW_BATCH`, another for each split, and `ROW_IN_SPLIT`.
    """
    apart = f"PARTITION BY {ROW_BATCH} "
    return _timed(source, rows, columns, _place(source, apart) if ordinal else "", apart)


def _place(source: Source, apart: str = "") -> str:
    """The place of a row by arrival, as one more column. `apart`: as for `_timed`."""
    order = _by_arrival(source)
    return f", {f'row_number() OVER ({apart}{order})' if order else ROW_IN_SPLIT} AS {ORDINAL}"


def _by_arrival(source: Source) -> str:
    """The order of arrival.

    Rows that came at once are in the order of their source; where it has none, in the order of reading.
    """
    first = [source.arrival_order, *source.order] if source.arrival_order else []
    return f"ORDER BY {', '.join([*map(quoted, first), ROW_IN_SPLIT])}" if first else ""


def _timed(source: Source, rows: str, columns: Columns, place: str, apart: str = "") -> str:
    """The rows with their times; `place`: their positions, if asked.

    `apart`: by what sections are counted from 1 again.
    """
    chosen = "*"
    check_named(source, columns)
    if place and (section := source.section):
        place += f", dense_rank() OVER ({apart}ORDER BY {', '.join(map(quoted, section))}) AS {FILE_NUMBER}"
    if source.lookups:
        from muntin.sources.reading.dimension import empty_columns

        place += "".join(f", {each}" for each in empty_columns(source, columns))
    if source.arrival_time:
        place += f", {instant(source, source.arrival_time, 'arrival_time', columns)} AS {ARRIVAL_TIME}"
    if source.dedupe:
        from muntin.sources.repeated_rows import identity

        place += f", {identity([*map(quoted, source.dedupe)])} AS {IDENTITY}"
    time = event_time(source, columns)
    local = local_time(source, source.event_time, columns)
    if local:
        from muntin.sources.reading.local_times import TOLD, by_arrival, odd

        place += f", {odd(local)} AS {ODD}"
    if local and source.ambiguous == "arrival":
        rows = by_arrival(rows, local, _by_arrival(source), f"{ROW_BATCH}, " if apart else "")
        chosen = f"* EXCLUDE ({TOLD})"
        undecided = undecided_arrival(source, columns)
        time = (
            f"CASE WHEN {TOLD} IS NOT NULL{f' AND NOT ({undecided[1]})' if undecided else ''} THEN {TOLD}"
            f" ELSE {time} END"
        )
    return f"SELECT {chosen}, {time} AS {EVENT_TIME}, {EVENT_TIME} AS {ORDER}{place} FROM {rows}"
