"""A value in the type that a definition says. DuckDB's own cast rounds 1.7 to 2, and takes 01-02-24 for a day of the year 1."""

from __future__ import annotations

import re

SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
"""DuckDB's signed integers of up to 64 bits, each fits into the next."""
INTEGERS = (*SIGNED, "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
"""All of DuckDB's integers."""
# As DuckDB spells whole numbers of up to 64 bits. https://duckdb.org/docs/stable/sql/data_types/numeric
_WHOLE = re.compile(r"(U?(TINY|SMALL|BIG)?INT(EGER)?|U?INT(8|16|32|64)|INT[124]|LONG|SHORT|SIGNED|INTEGRAL)", re.IGNORECASE)
_TIME = re.compile(r"DATE|DATETIME|TIMESTAMP.*", re.IGNORECASE)
YEAR_FIRST = r"^\s*-?\d{4,}[-/ \\]"
_SHORT_YEAR = r"^\s*-?\d{1,3}[-/ \\]"


def is_whole(kind: str) -> bool:
    """Whether a SQL type has whole numbers of up to 64 bits.

    >>> [is_whole(kind) for kind in ("BIGINT", "int", "UINT8", "HUGEINT", "DOUBLE", "INTERVAL", "INTEGER[]")]
    [True, True, True, False, False, False, False]
    """
    return _WHOLE.fullmatch(kind) is not None


def is_time(kind: str) -> bool:
    """Whether a SQL type is of days or instants."""
    return _TIME.fullmatch(kind) is not None


def in_type(value: str, kind: str) -> str:
    """SQL for a value in a type; an error where the value is of another. TRY finds it: it goes with no error() of our own.

    >>> in_type("x", "DOUBLE")
    '(x)::DOUBLE'
    """
    if is_whole(kind):
        return _unless(f"trunc(({value})::DOUBLE) <> ({value})::DOUBLE", "no whole number: ", value, kind)
    if is_time(kind):
        return _unless(f"typeof({value}) = 'VARCHAR' AND regexp_matches(({value})::VARCHAR, '{_SHORT_YEAR}')", "no year: ", value, kind)
    return f"({value})::{kind}"


def widened(value: str, natural: str, kind: str) -> str:
    """SQL for a value of one type in the wider type that a state has; an error where a whole number is none of doubles.

    >>> widened("x", "INTEGER", "BIGINT")
    '(x)::BIGINT'
    """
    if kind == "DOUBLE" and natural in ("BIGINT", "UBIGINT", "HUGEINT"):
        return _unless(f"({value})::DOUBLE::HUGEINT <> ({value})", "no double holds ", value, kind)
    return f"({value})::{kind}"


def _unless(wrong: str, told: str, value: str, kind: str) -> str:
    return f"CASE WHEN {wrong} THEN ('{told}' || ({value})::VARCHAR)::{kind} ELSE ({value})::{kind} END"
