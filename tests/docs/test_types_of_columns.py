"""The table of types in docs/sources.md is what the code does with each type."""

from pathlib import Path

from muntin.sources.casts import carried, is_carried_as_it_is
from muntin.sources.reading.sql_types import stored_type

PAGE = Path(__file__).parents[2] / "docs/sources.md"
TYPES = {
    "BOOLEAN": "",
    "TINYINT, SMALLINT, INTEGER, BIGINT": "",
    "UTINYINT, USMALLINT, UINTEGER": "",
    "UBIGINT": "",
    "HUGEINT, UHUGEINT, BIGNUM": "more than 38 digits: the quarantine",
    "FLOAT": "",
    "DOUBLE": "in CSV and JSON a number that a double, written shortest, is not: the quarantine",
    "DECIMAL(12,2)": "in Parquet more than 38 digits: refused",
    "VARCHAR": "",
    "BLOB": "",
    "DATE": "",
    "TIMESTAMP, TIMESTAMP_S, TIMESTAMP_MS": "of texts as `TIMESTAMP_NS`",
    "TIMESTAMP WITH TIME ZONE": "of texts as `TIMESTAMP_NS`; the name of a zone, but for UTC: the quarantine",
    "TIMESTAMP_NS": "digits finer than a microsecond: the row goes to the quarantine; an event time is rounded down instead",
    "TIMESTAMPTZ_NS": "as `TIMESTAMP_NS`",
    "TIME, TIME_NS": "",
    "INTERVAL": "",
    "UUID": "",
    "ENUM('a')": "",
    "BIGINT[]": "by its values",
    "STRUCT(a TIME, b HUGEINT)": "by its members",
    "MAP(VARCHAR, BIGINT)": "by its values",
    '"NULL"': "",
}


def apart(kinds: str) -> list[str]:
    return [kinds] if "(" in kinds else kinds.split(", ")


def row(kinds: str, lost: str) -> str:
    names, states = apart(kinds), dict.fromkeys(stored_type(carried(kind)) for kind in apart(kinds))
    return f"| {', '.join(f'`{each}`' for each in names)} | {', '.join(f'`{each}`' for each in states)} | {lost} |"


def test_the_table_is_what_the_code_does() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| type in a file |")[2].partition("\n\n")[0].splitlines()[2:]
    assert table == [row(kinds, lost) for kinds, lost in TYPES.items()]


def test_a_type_is_carried_as_it_is_unless_the_table_says_what_is_not() -> None:
    for kinds, lost in TYPES.items():
        for kind in apart(kinds):
            as_it_is = is_carried_as_it_is(kind, "parquet") and is_carried_as_it_is(kind, "json")
            assert as_it_is or lost, kind
