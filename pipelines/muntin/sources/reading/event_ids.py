"""Ids of events as hashes of 128 bits, which are the same in every batch, on every machine and under every
version of DuckDB.

The hash is MD5 of a text: of each column its length and its value, so that ("ab", "c") and ("a", "bc") are
two ids. Of n ids, two share a hash with a probability of n^2 / 2^129: of ten billion ids 1.5e-19.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.errors import SourceError
from muntin.sources.casts import INTEGERS
from muntin.sources.reading.scan import quoted
from muntin.sources.repeated_rows import to_the_bit
from muntin.states.columns import BROUGHT, EVENT_TIME, ID_HIGH, ID_LOW, ID_ROW, IDENTITY, ORDINAL

if TYPE_CHECKING:
    from muntin.sources.reading.taken_times import Taken
    from muntin.sources.source import Columns, Source

_HASH = "muntin_hash"
_AS_TEXT = (*INTEGERS, "VARCHAR", "UUID", "BOOLEAN", "DATE")
_INSTANTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP WITH TIME ZONE")


def ids_of_rows(source: Source, rows: str, columns: Columns, times: Taken) -> str:
    """SQL for the id of each row that has one and whose time is taken: `ID_HIGH` and `ID_LOW` (uint64),
    `EVENT_TIME`, `ORDINAL`, and `ID_ROW` (uint64), a hash of what the row says where rows change others; else
    0.

    `rows` have the columns that `staged` and `once` add; no two rows have the same id. A column of a type
    whose values have no text of their own, as floats, is refused.
    """
    texts = (_text(name, columns[name]) for name in source.dedupe)
    text = " || ".join(f"length({each}) || ':' || {each}" for each in texts)
    # of what a row says, and odd if its batch does not bring the id, but changes a row that was there
    row_hash = f"hash({', '.join(to_the_bit(name, kind) for name, kind in columns.items())})"
    said = f"(({row_hash} >> 1) << 1) + (NOT {BROUGHT})::UBIGINT" if source.changes else "0::UBIGINT"
    chosen = f"md5_number({text}) AS {_HASH}, {EVENT_TIME}, {ORDINAL}, {said} AS {ID_ROW}"
    hashed = f"SELECT {chosen} FROM {rows} WHERE {IDENTITY} IS NOT NULL AND {times.condition}"
    halves = f"({_HASH} >> 64)::UBIGINT AS {ID_HIGH}, ({_HASH} & {2**64 - 1})::UBIGINT AS {ID_LOW}"
    order = _HASH if source.changes else f"{EVENT_TIME} // {source.dedupe_within_us}, {_HASH}"
    return f"SELECT {halves}, {EVENT_TIME}, {ORDINAL}, {ID_ROW} FROM ({hashed}) ORDER BY {order}"


def _text(name: str, kind: str) -> str:
    column = quoted(name)
    if kind in _AS_TEXT or (kind.startswith("DECIMAL(") and kind.endswith(",0)")):
        return f"{column}::VARCHAR"
    if kind in _INSTANTS:
        return f"epoch_us({column})::VARCHAR"
    if kind == "BLOB":
        return f"hex({column})"
    raise SourceError(
        f"dedupe_within: {name} is {kind}, whose values may be written in several ways; say another type:"
        f' types={{"{name}": "VARCHAR"}}'
    )
