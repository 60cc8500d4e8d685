"""A value in the type that a definition says, or in the type that states have for it: as it is, or an error.

DuckDB's own casts round 1.7 to 2, take 12_5 for 125 and 0x1F for 31, take 01-02-24 for a day of the year 1,
and make one number of 9007199254740993 and 9007199254740992.0.
"""

from __future__ import annotations

import re

from muntin.sources.nested_types import inside, is_nested, leaves, of_leaves

SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
"""DuckDB's signed integers of up to 64 bits, each fits into the next."""
INTEGERS = (*SIGNED, "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
"""All of DuckDB's integers."""
# As DuckDB spells numbers. https://duckdb.org/docs/stable/sql/data_types/numeric
_WHOLE = re.compile(
    r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|U?INT(8|16|32|64|128)|INT[124]|"
    r"LONG|SHORT|SIGNED|INTEGRAL|OID|BIGNUM|VARINT)",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"(DECIMAL|DEC|NUMERIC)\b.*", re.IGNORECASE)
_FLOAT = re.compile(r"FLOAT[48]?|REAL|DOUBLE( PRECISION)?", re.IGNORECASE)
_TIME = re.compile(r"DATE|DATETIME|TIME|TIMESTAMP.*", re.IGNORECASE)
_ZONED = re.compile(r"TIMESTAMP( WITH TIME ZONE|TZ.*)", re.IGNORECASE)
NO_DOUBLE = "no double holds"
YEAR_FIRST = r"^\s*-?\d{4,}[-/ \\]"
OFFSET = ":.*[-+A-Za-z]"
"""A regular expression that finds, behind the first colon of a time, an offset or the name of a zone."""
_FINE = r"\.\d{6}\d*[1-9]"  # digits finer than a microsecond
_NO_OFFSET = ":.*[-+](2[4-9]|[3-9][0-9]|[0-9]{2}:?[6-9]|[0-9]{2}:?[0-9]{2}:?[6-9])"
"""A regular expression that finds an offset of a day or more, or with 60 minutes or seconds, which DuckDB
adds up all the same.
"""
_USUAL = "2___-__-__T__:__:__%Z"
"""How most instants are written, for LIKE: of this form DuckDB casts no text that `tells_instant` would
refuse, but NZ (New Zealand).
"""
_USUAL_LENGTH = len("2024-01-02T03:04:05.123456Z")
_CLOCK = r"\s*\d{1,2}:\d{2}(:\d{2}(\.\d{1,6}0*)?)?\s*"
_PLAIN_DAY = len("2024-01-02")
_NO_FRACTION = r"\s*[-+]?\d+(\.0*)?\s*"
_POWER = r"\s*[-+]?\d+(?:\.(\d*?)0*)?[eE]\+?(\d{1,2})\s*"
_DIGITS = r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*"
_NO_DIGITS = r"(?i)\s*[-+]?(nan|inf(inity)?)\s*"
_MOST_DIGITS = "DECIMAL(38,0)"
_EXACT = {
    "HUGEINT": _MOST_DIGITS,
    "UHUGEINT": _MOST_DIGITS,
    "BIGNUM": _MOST_DIGITS,
    "TIMESTAMP_NS": "TIMESTAMP",
    "TIMESTAMPTZ_NS": "TIMESTAMP WITH TIME ZONE",
}
"""A type in files that states do not have -> the type that has most of its values, each as it is."""
WITH_ZONE = "TIMESTAMP WITH TIME ZONE"
INSTANTS = ("TIMESTAMP", WITH_ZONE)
"""Types of instants that DuckDB tells of texts."""
NO_TYPE = '"NULL"'
"""The type of a column in which nothing stands, as writers give it to files without rows."""
_UNSURE: dict[str, tuple[str, ...]] = {
    "csv": ("BIGINT", "DOUBLE", *INSTANTS),
    "json": ("DOUBLE", *INSTANTS),
    "parquet": (),
    "kafka": (),
}
"""The types that DuckDB takes columns of text files for though a cell is none but another value: 0x10, 1_000,
9007199254740993, and times with nanoseconds.
"""
# https://en.wikipedia.org/wiki/Double-precision_floating-point_format: a double tells so many decimal digits
# apart
_SURE_DIGITS = 15


def is_whole(kind: str) -> bool:
    """Whether a SQL type has whole numbers.

    >>> [is_whole(kind) for kind in ("BIGINT", "int", "UINT8", "HUGEINT", "DOUBLE", "INTERVAL", "INTEGER[]")]
    [True, True, True, True, False, False, False]
    """
    return _WHOLE.fullmatch(kind) is not None


def is_number(kind: str) -> bool:
    """Whether a SQL type has numbers.

    >>> [is_number(kind) for kind in ("BIGINT", "numeric(9, 2)", "REAL", "DATE", "DOUBLE[]")]
    [True, True, True, False, False]
    """
    return any(of.fullmatch(kind) for of in (_WHOLE, _DECIMAL, _FLOAT)) and not is_nested(kind)


def is_time(kind: str) -> bool:
    """Whether a SQL type is of days, instants or times of day."""
    return _TIME.fullmatch(kind) is not None


def in_type(value: str, kind: str, *, cut: bool = False) -> str:
    """SQL for a value in a type; an error where the value is of another. TRY finds it: it goes with no
    error() of our own.

    `cut`: whether parts of microseconds are cut off, as of event times.

    >>> in_type("x", "BOOLEAN")
    '(x)::BOOLEAN'
    """
    if is_nested(kind):
        return inside(f"({value})::{of_leaves(kind, lambda _: 'VARCHAR')}", kind, in_type)
    if is_whole(kind):
        text = f"({value})::VARCHAR"
        same = f"({value})::VARCHAR = ({value})::{kind}::VARCHAR"
        return (
            f"CASE WHEN {same} THEN ({value})::{kind} ELSE"
            f" {_unless(f'NOT ({_is_whole(text)})', 'no whole number: ', value, kind)} END"
        )
    if is_time(kind):
        odd = _is_no_time(f"({value})::VARCHAR", kind.upper(), cut=cut)
        return _unless(f"typeof({value}) = 'VARCHAR' AND ({odd})", f"no {kind} as it is: ", value, kind)
    if is_number(kind):
        odd = _is_no_number(value, kind)
        return _unless(f"typeof({value}) = 'VARCHAR' AND ({odd})", "no number: ", value, kind)
    return f"({value})::{kind}"


def with_point(value: str, point: str, thousands: str = "") -> str:
    """SQL for the text of a number with a decimal point. A point in the file's own spelling, and a mark of
    thousands that stands elsewhere, become what no cast takes.

    >>> with_point("x", ".")
    'x'
    """
    if point == "." and not thousands:
        return value
    text = f"({value})::VARCHAR"
    pointed = f"translate({text}, '{point}.', '.{point}')" if point != "." else text
    if thousands:
        mark = thousands.replace("'", "''")
        grouped = rf"\s*[-+]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+([{point}]\d*)?([eE][-+]?\d+)?\s*"
        plain = f"replace(replace({text}, '{mark}', ''), '{point}', '.')"
        pointed = (
            f"CASE WHEN contains({text}, '{mark}') AND regexp_full_match({text}, '{grouped}') THEN {plain}"
            f" ELSE {pointed} END"
        )
    return f"CASE WHEN typeof({value}) = 'VARCHAR' THEN {pointed} ELSE {text} END"


def _is_no_number(value: str, kind: str) -> str:
    """SQL: whether DuckDB casts a text to another number than is written: 12_5, +-1, nan(1), 1e400."""
    text = f"({value})::VARCHAR"
    # a regular expression costs as much as the cast
    sure = " AND ".join(f"NOT contains({text}, '{letter}')" for letter in "_+eE")
    odd = f"CASE WHEN {sure} THEN false ELSE NOT regexp_full_match({text}, '{_DIGITS}') END"
    if _DECIMAL.fullmatch(kind):
        return odd
    return (
        f"CASE WHEN isfinite(try_cast({value} AS {kind})) THEN {odd} ELSE NOT regexp_full_match({text},"
        f" '{_NO_DIGITS}') END"
    )


def _is_no_time(text: str, kind: str, *, cut: bool) -> str:
    """SQL: whether a text says more than a type of times keeps: an offset, PM, nanoseconds, a time."""
    if kind == "TIME":
        return f"NOT regexp_full_match({text}, '{_CLOCK}')"
    zoned = _ZONED.fullmatch(kind) is not None
    more = _no_zone(text) if zoned else f"regexp_matches({text}, '{OFFSET}')"
    if kind == "DATE":
        more += f" OR ({text})::TIMESTAMP <> ({text})::DATE"
    elif not cut:
        more += f" OR regexp_matches({text}, '{_FINE}')"
    odd = (
        f"NOT regexp_matches({text}, '{YEAR_FIRST}') OR CASE WHEN strlen({text}) > {_PLAIN_DAY} THEN {more}"
        " ELSE false END"
    )
    # as 5.1234567Z
    usual = (
        f"{_usual(text)} AND strlen({text}) <= {_USUAL_LENGTH} AND ({text})[18] <> '.' AND ({text})[19]"
        " <> '.'"
    )
    return f"CASE WHEN {usual} THEN false ELSE {odd} END" if zoned else odd


def tells_instant(text: str) -> str:
    """SQL for whether a text of a time begins with its year, and has no odd offset, and no zone by a word
    other than UTC.
    """
    condition = f"regexp_matches({text}, '{YEAR_FIRST}') AND NOT ({_no_zone(text)})"
    # a regular expression costs as much as the cast
    return f"CASE WHEN {_usual(text)} THEN true ELSE {condition} END"


def _usual(text: str) -> str:
    return f"{text} LIKE '{_USUAL}' AND NOT ends_with({text}, 'NZ')"


def _no_zone(text: str) -> str:
    """SQL for whether a text of a time has a zone that cannot be identified."""
    return f"{names_zone(text)} OR regexp_matches({text}, '{_NO_OFFSET}')"


def names_zone(text: str) -> str:
    """SQL for whether a text of a time names its zone by a word other than UTC.

    DuckDB has zones of its own for such words, as IST.
    """
    other = (
        rf"regexp_matches({text}, ':.*[A-Za-z]') AND NOT regexp_matches({text}, '(?i)[0-9 ](z|utc|gmt)\s*$')"
    )
    plain = f"ends_with({text}, 'Z') AND NOT ends_with({text}, 'NZ') OR ({text})[-3] = ':'"
    return f"CASE WHEN {plain} THEN false ELSE {other} END"  # AND would compute all of it


def _is_whole(text: str) -> str:
    """SQL: whether a text is a whole number, with a fraction of zeros or a power of ten or without."""
    fraction, power = (f"regexp_extract({text}, '^{_POWER}$', {group})" for group in (1, 2))
    return (
        f"regexp_full_match({text}, '{_NO_FRACTION}') OR strlen({fraction}) <= coalesce(try_cast({power} AS"
        " INTEGER), -1)"
    )


def carried(kind: str) -> str:
    """The type in which states have a column of a file, where no definition says it; the file's own where
    states have that.

    >>> carried("STRUCT(id HUGEINT, at TIMESTAMP_NS[])")
    'STRUCT(id DECIMAL(38,0), at TIMESTAMP[])'
    """
    return of_leaves(kind, lambda leaf: _EXACT.get(leaf, leaf))


def is_carried_as_it_is(kind: str, form: str) -> bool:
    """Whether states have all values of a type of a file; of text files, all cells for which a reader takes
    the type.
    """
    return carried(kind) == kind and not {*leaves(kind)} & {*_UNSURE[form]}


def read_before(kind: str, form: str) -> str:
    """The type in which a column of a text file is read before `carry`: numbers that are to be looked at as
    texts.

    >>> read_before("STRUCT(id HUGEINT, x DOUBLE[])", "json")
    'STRUCT(id VARCHAR, x VARCHAR[])'
    """
    return of_leaves(kind, lambda leaf: "VARCHAR" if leaf in _UNSURE[form] or leaf in _EXACT else leaf)


def carry(value: str, kind: str, form: str, *, cut: bool = False) -> str:
    """SQL for a value of a type of a file in the type `carried`, an error where that does not have the value
    as it is.

    `value`: of text files in the type `read_before`. `cut`: as for `in_type`.
    """
    if is_nested(kind):
        return inside(value, kind, lambda leaf, of: carry(leaf, of, form))
    if kind == NO_TYPE:
        return "NULL"
    if kind in _UNSURE[form]:
        return _double(value) if kind == "DOUBLE" else in_type(value, kind, cut=cut)
    if kind.endswith("_NS") and kind in _EXACT:
        return _unless(
            f"epoch_ns({value}) % 1000 <> 0", f"{_name(value)}: no whole microsecond: ", value, _EXACT[kind]
        )
    return f"({value})::VARCHAR::{_EXACT[kind]}" if kind in _EXACT else value


def since_clocks(value: str, kind: str) -> str:
    """SQL for a value of a type with times; an error for a day before the Gregorian calendar, and for an
    instant before 1900.
    """
    if is_nested(kind):
        return inside(value, kind, since_clocks)
    if not is_time(kind) or kind == "TIME":
        return value
    return _unless(
        f"{value} < '{'1582-10-15' if kind == 'DATE' else '1900-01-01'}'::{kind}",
        "by which calendar? ",
        value,
        kind,
    )


def _double(text: str) -> str:
    """SQL for a text as the double that is its number."""
    plain = f"strlen({text}) <= {_SURE_DIGITS} AND NOT regexp_matches({text}, '[eE_+]')"
    return (
        f"CASE WHEN {plain} THEN ({text})::DOUBLE ELSE"
        f" {_unless(f'NOT ({is_double(text)})', f'{NO_DOUBLE} ', text, 'DOUBLE')} END"
    )


_ROUNDED = re.compile(r"(FLOAT[48]?|REAL|DOUBLE)", re.IGNORECASE)


def is_rounded(kind: str | None) -> bool:
    """Whether a type that a definition gives asks for doubles, whatever the number."""
    return kind is not None and _ROUNDED.fullmatch(kind) is not None


def is_double(text: str) -> str:
    """SQL for whether a double, written with the fewest digits that tell doubles apart, is the number of a
    text.
    """
    shortest = f"try_cast({text} AS DOUBLE)::VARCHAR"
    same = (
        f"regexp_full_match({text}, '({_DIGITS})|({_NO_DIGITS})') AND {_digits_of(text)} ="
        f" {_digits_of(shortest)}"
    )
    return f"CASE WHEN {text} = {shortest} THEN true ELSE {same} END"  # OR would compute both


def _digits_of(text: str) -> str:
    """SQL for a number's digits without zeros at its ends: a double with the same is the number."""
    return f"trim(regexp_replace(regexp_replace({text}, '[eE].*', ''), '[^0-9]', '', 'g'), '0')"


def widened(value: str, natural: str, kind: str) -> str:
    """SQL for a value of one type in the wider type that a state has; an error where a whole number is none
    of doubles.

    >>> widened("x", "INTEGER", "BIGINT")
    '(x)::BIGINT'
    """
    if kind == "DOUBLE" and natural in ("BIGINT", "UBIGINT", "HUGEINT"):
        return _unless(
            f"({value})::DOUBLE::HUGEINT <> ({value})", f"{_name(value)}: {NO_DOUBLE} ", value, kind
        )
    return f"({value})::{kind}"


def _name(value: str) -> str:
    """The column of a value, for an error in SQL."""
    return value.strip('"').replace("'", "''")


def _unless(wrong: str, message: str, value: str, kind: str) -> str:
    return f"CASE WHEN {wrong} THEN ('{message}' || ({value})::VARCHAR)::{kind} ELSE ({value})::{kind} END"
