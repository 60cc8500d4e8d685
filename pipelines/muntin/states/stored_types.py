"""The Arrow types of columns in files of states and of windows: types that Delta has."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa

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
    return all(each.name not in names or storable_type(each.type) == storable_type(wide.field(each.name).type) for each in schema)


def required_where_whole(table: pa.Table) -> pa.Table:
    """The table whose columns without nulls have none by their type."""
    fields = [field.with_nullable(column.null_count > 0) for field, column in zip(table.schema, table.columns, strict=True)]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields, table.schema.metadata))


def optional(schema: pa.Schema) -> pa.Schema:
    """The columns, of which each may have nulls."""
    return pa.schema([field.with_nullable(True) for field in schema], schema.metadata)  # noqa: FBT003 - nullable


def with_types(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with the types of a schema, which are wider; a column that does not go into its type stays as it is."""
    for at, each in enumerate(table.schema):
        if each.name in schema.names and storable_type(each.type) != storable_type(schema.field(each.name).type):
            with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
                table = table.set_column(at, each.name, wider(table[each.name], schema.field(each.name).type))
    return table


def wider(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in a wider type; a column without a value in any type, whatever it was taken for.

    Arrow asks for room for every long; the values that are there need less.

    Raises:
        pa.ArrowInvalid, pa.ArrowNotImplementedError: a value does not go into the type.
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
