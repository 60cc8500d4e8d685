"""Held and derived columns: a state that is a row holds a value once; the file's footer says how other
columns derive from it.

the row    b = 2.5                  a file holds   min_b 2.5
its state  rows   1                 and says       rows   one
           count_b 1                               count_b present in min_b
           sum_b  2.5                              sum_b  total of min_b
           min_b  2.5                              max_b  value of min_b
           max_b  2.5
An instant that is the row's event time is the frame's start as a whole number: `delta  instant of frame`.

A file that says nothing holds every column. Files of both kinds may lie in one table: each is read by its own
footer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.states.columns import INSTANT

_MOST_DIGITS = 38


def storable_type(kind: pa.DataType) -> pa.DataType:
    """The Arrow type that a column is stored as."""
    if pa.types.is_timestamp(kind):
        return INSTANT
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(storable_type(kind.value_type))
    if pa.types.is_map(kind):
        kind = pa.map_(storable_type(kind.key_type), storable_type(kind.item_type))
    elif pa.types.is_struct(kind):
        kind = pa.struct([field.with_type(storable_type(field.type)) for field in kind])
    return kind


def has_types(schema: pa.Schema, wide: pa.Schema) -> bool:
    """Whether columns have the types that another schema has; a column that it lacks has."""
    if schema.equals(wide):
        return True
    names = {*wide.names}
    return all(
        each.name not in names or storable_type(each.type) == storable_type(wide.field(each.name).type)
        for each in schema
    )


def required_where_whole(table: pa.Table) -> pa.Table:
    """The table whose columns without nulls have none by their type."""
    fields = [
        field.with_nullable(column.null_count > 0)
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields, table.schema.metadata))


def optional(schema: pa.Schema) -> pa.Schema:
    """The columns, of which each may have nulls."""
    return pa.schema([field.with_nullable(True) for field in schema], schema.metadata)  # noqa: FBT003 - nullable


def with_types(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with the wider types of a schema; a column that does not go into its type stays as it is."""
    for at, each in enumerate(table.schema):
        if each.name in schema.names and storable_type(each.type) != storable_type(
            schema.field(each.name).type
        ):
            with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
                table = table.set_column(at, each.name, wider(table[each.name], schema.field(each.name).type))
    return table


def wider(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in a wider type; a column without a value in any type, whatever it was taken for.

    Arrow asks for room for every long; the values that are there need less.
    """
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), kind)])
    if pa.types.is_list(kind) and pa.types.is_list(column.type):
        lists = column.combine_chunks()
        values = wider(pa.chunked_array([lists.values]), kind.value_type).combine_chunks()
        return pa.chunked_array([pa.ListArray.from_arrays(lists.offsets, values, kind, mask=lists.is_null())])
    if pa.types.is_decimal(kind) and pa.types.is_integer(column.type):
        column = column.cast(pa.decimal128(_MOST_DIGITS, kind.scale))
    return column.cast(kind)


How = Literal["one", "present", "total", "value", "instant"]
Derivations = Mapping[str, tuple[How, str] | None]

_KEY = b"muntin_columns"


def footer_for(columns: Derivations) -> dict[bytes, bytes]:
    """The text in a file's footer on the columns of fields, in order.

    `columns`: column -> how it follows from a column that the file holds; None of a column that is held as it
    is. "one": 1 in each row; "present": 1 where the held column is not null, else 0; "total": its value, 0
    for null, no -0.0; "value": its value; "instant": its microseconds since 1970 as int64.
    """
    return {_KEY: json.dumps(columns).encode()} if any(columns.values()) else {}


def footer_of(schema: pa.Schema) -> dict[bytes, bytes]:
    """The text on columns in a file's footer, without other entries of the footer."""
    return {key: text for key, text in (schema.metadata or {}).items() if key == _KEY}


def following(schema: pa.Schema) -> set[str]:
    """The columns that a file does not hold, because they follow from other columns."""
    return {name for name, how in _columns(schema).items() if how and how[1] != name}


def _columns(schema: pa.Schema) -> Derivations:
    return {
        name: how and (how[0], how[1]) for name, how in json.loads(footer_of(schema).get(_KEY, b"{}")).items()
    }


def whole(table: pa.Table) -> pa.Table:
    """The rows of a file with every column of their states."""
    columns = _columns(table.schema)
    if not columns:
        return table
    ones = _ones(len(table))
    of_fields = {
        name: ones if _is_one(table, how) else whole_column(table, name) for name, how in columns.items()
    }
    names = [name for name in table.column_names if name not in columns]
    begin = next((at for at, name in enumerate(table.column_names) if name in columns), len(names))
    return pa.table(
        {
            name: of_fields[name] if name in of_fields else table[name]
            for name in [*names[:begin], *columns, *names[begin:]]
        }
    )


def whole_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of the states in a file, held or derived, without its footer; each may have nulls."""
    return optional(whole(schema.empty_table()).schema.remove_metadata())


def whole_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column of the states in a file, whether it holds it or not."""
    how = _columns(table.schema).get(name)
    if _is_one(table, how):
        return _ones(len(table))
    match how:
        case ("present", of):
            return pc.is_valid(table[of]).cast(pa.int64())
        case ("total", of):  # `coalesce(sum(x), 0)` over one row: sums of integers have 64 bits
            column = table[of].cast(pa.int64()) if pa.types.is_integer(table[of].type) else table[of]
            filled = pc.fill_null(column, pa.scalar(0).cast(column.type)) if column.null_count else column
            return pc.add(filled, 0.0) if pa.types.is_floating(filled.type) else filled  # 0 + -0.0 is 0.0
        case ("value", of):
            return table[of]
        case ("instant", of):
            return table[of].cast(pa.int64())
    return table[name]


def row_count(table: pa.Table) -> int:
    """How many rows of sources the states are made of."""
    return (
        len(table)
        if _columns(table.schema).get("rows") == ("one", "")
        else int(whole_column(table, "rows").to_numpy().sum())
    )


def _is_one(table: pa.Table, how: tuple[How, str] | None) -> bool:
    """Whether a column is 1 in each row."""
    return how is not None and (how[0] == "one" or (how[0] == "present" and not table[how[1]].null_count))


def _ones(count: int) -> pa.ChunkedArray:
    return pa.chunked_array([np.ones(count, np.int64)])


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of several files: as held if all files hold the same columns, else with every column."""
    footers = [footer_of(each.schema) for each in tables]
    alike = all(each == footers[0] for each in footers)
    parts = [(each if alike else whole(each)).replace_schema_metadata(None) for each in tables]
    return pa.concat_tables(parts, promote_options="default").replace_schema_metadata(
        footers[0] if alike else None
    )


class Extent(NamedTuple):
    """How many rows there are, and their least and greatest time, microseconds."""

    rows: int
    oldest: int
    newest: int


def extent_of(states: pa.Table, first: str, last: str) -> Extent | None:
    """The extent of the rows of states; None without rows. `first`, `last`: columns with their times."""
    ends = pc.min(states[first]).as_py(), pc.max(states[last]).as_py()
    return Extent(row_count(states), *ends) if len(states) else None
