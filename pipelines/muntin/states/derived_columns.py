"""Held and derived columns: a state that is a row holds a value once; the file's footer says how other columns derive from it.

the row    b = 2.5                  a file holds   min_b 2.5
its state  rows   1                 and says       rows   one
           count_b 1                               count_b present in min_b
           sum_b  2.5                              sum_b  total of min_b
           min_b  2.5                              max_b  value of min_b
           max_b  2.5
An instant that is the row's event time is the frame's start as a whole number: a file says      delta  instant of frame

A file that says nothing holds every column. Files of both kinds may lie in one table: each is read by its own footer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.states.stored_types import optional

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    How = Literal["one", "present", "total", "value", "instant"]
    Derivations = Mapping[str, tuple[How, str] | None]

_KEY = b"muntin_columns"


def footer_for(columns: Derivations) -> dict[bytes, bytes]:
    """The text in a file's footer on the columns of fields, in order.

    Args:
        columns: column -> how it follows from a column that the file holds; None of a column that is held as it is. "one": 1 in each
            row; "present": 1 where the held column is not null, else 0; "total": its value, 0 for null, no -0.0; "value": its value;
            "instant": its microseconds since 1970 as int64.
    """
    return {_KEY: json.dumps(columns).encode()} if any(columns.values()) else {}


def footer_of(schema: pa.Schema) -> dict[bytes, bytes]:
    """The text on columns in a file's footer, without other entries of the footer."""
    return {key: text for key, text in (schema.metadata or {}).items() if key == _KEY}


def following(schema: pa.Schema) -> set[str]:
    """The columns that a file does not hold, because they follow from other columns."""
    return {name for name, how in _columns(schema).items() if how and how[1] != name}


def _columns(schema: pa.Schema) -> Derivations:
    return {name: how and (how[0], how[1]) for name, how in json.loads(footer_of(schema).get(_KEY, b"{}")).items()}


def whole(table: pa.Table) -> pa.Table:
    """The rows of a file with every column of their states."""
    columns = _columns(table.schema)
    if not columns:
        return table
    ones = _ones(len(table))
    of_fields = {name: ones if _is_one(table, how) else whole_column(table, name) for name, how in columns.items()}
    names = [name for name in table.column_names if name not in columns]
    begin = next((at for at, name in enumerate(table.column_names) if name in columns), len(names))
    return pa.table({name: of_fields[name] if name in of_fields else table[name] for name in [*names[:begin], *columns, *names[begin:]]})


def whole_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of the states in a file, whether it holds them or not, without what its footer says; each may have nulls."""
    return optional(whole(schema.empty_table()).schema.remove_metadata())


def whole_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column of the states in a file, whether it holds it or not."""
    how = _columns(table.schema).get(name)
    if _is_one(table, how):
        return _ones(len(table))
    match how:
        case ("present", of):
            return pc.is_valid(table[of]).cast(pa.int64())
        case ("total", of):
            return _total(table[of])
        case ("value", of):
            return table[of]
        case ("instant", of):
            return table[of].cast(pa.int64())
    return table[name]


def row_count(table: pa.Table) -> int:
    """How many rows of sources the states are made of."""
    return len(table) if _columns(table.schema).get("rows") == ("one", "") else int(whole_column(table, "rows").to_numpy().sum())


def _is_one(table: pa.Table, how: tuple[How, str] | None) -> bool:
    """Whether a column is 1 in each row."""
    return how is not None and (how[0] == "one" or (how[0] == "present" and not table[how[1]].null_count))


def _ones(count: int) -> pa.ChunkedArray:
    return pa.chunked_array([np.ones(count, np.int64)])


def _total(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The value of `coalesce(sum(x), 0)` over one row: 0 + -0.0 is 0.0, and sums of integers have 64 bits."""
    column = column.cast(pa.int64()) if pa.types.is_integer(column.type) else column
    filled = pc.fill_null(column, pa.scalar(0).cast(column.type)) if column.null_count else column
    return pc.add(filled, 0.0) if pa.types.is_floating(filled.type) else filled


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of several files: as the files hold them if all hold the same columns, else with every column."""
    footers = [footer_of(each.schema) for each in tables]
    alike = all(each == footers[0] for each in footers)
    parts = [(each if alike else whole(each)).replace_schema_metadata(None) for each in tables]
    return pa.concat_tables(parts, promote_options="default").replace_schema_metadata(footers[0] if alike else None)
