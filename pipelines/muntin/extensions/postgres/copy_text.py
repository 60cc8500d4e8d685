"""Rows as PostgreSQL copies them in: a line a row, tabs between values
(https://www.postgresql.org/docs/current/sql-copy.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from muntin.sinks.errors import RefusedError
from muntin.sinks.json_values import as_json, is_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

_NULL = "\\N"
_ESCAPED = (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))


def copy_text(rows: pa.Table) -> bytes:
    r"""Rows as text for `COPY ... FROM STDIN`.

    A value in a list or a struct that Python does not know, as the year 12345, is refused.

    >>> copy_text(pa.table({"k": ["a\tb", None, ""], "x": [0.1, float("nan"), None]}))
    b'a\\tb\t0.1\n\\N\tnan\n\t\\N\n'
    """
    if not len(rows):
        return b""
    columns = [_of(rows, name) for name in rows.column_names]
    lines = pc.binary_join_element_wise(*columns, "\t", null_handling="replace", null_replacement=_NULL)
    return "".join(f"{line}\n" for line in lines.to_pylist()).encode()


def _of(rows: pa.Table, name: str) -> pa.Array:
    try:
        return _texts(rows[name].combine_chunks())
    except (OverflowError, ValueError) as wrong:
        raise RefusedError(str(wrong), name) from None


def _texts(column: pa.Array) -> pa.Array:
    """The values of a column as texts, escaped; null where they are."""
    kind = column.type
    if is_bytes(kind):
        return pa.array(
            [None if value is None else f"\\\\x{value.hex()}" for value in column.to_pylist()], pa.string()
        )
    if pa.types.is_nested(kind):
        return _escaped(pa.array(_json(column.to_pylist()), pa.string()))
    if pa.types.is_duration(kind):
        micros = column.cast(pa.duration("us")).cast(pa.int64()).cast(pa.string())
        return pc.binary_join_element_wise(micros, pa.scalar("us"), " ")
    texts = column.cast(pa.string())
    return _escaped(texts) if pa.types.is_string(kind) or pa.types.is_large_string(kind) else texts


def _json(values: Sequence[object]) -> list[str | None]:
    return [None if value is None else as_json(value) for value in values]


def _escaped(texts: pa.Array) -> pa.Array:
    for plain, escaped in _ESCAPED:
        texts = pc.replace_substring(texts, plain, escaped)
    return texts
