"""Columns of a mirror follow the columns of the windows.

A file of Parquet has names and no field ids: the table's name mapping says which name is which field. So at any time a name stands for one
field, for old snapshots too: a name that gets another field makes them unreadable, and they have to go.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyiceberg.table import Transaction
    from pyiceberg.types import IcebergType, NestedField


def follow_columns(transaction: Transaction, wanted: pa.Schema) -> bool:
    """Give a table the columns of the windows; whether older snapshots are read wrongly from then on.

    A type that widens as Iceberg allows keeps its field, and so does a column that is left out. Another type is another field.

    Args:
        transaction: of the table.
        wanted: the columns of the windows; a comment is in the metadata of its field.

    Raises:
        ValueError: Iceberg does not have a type.
    """
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    schemas = transaction.table_metadata.schemas
    have, want = _fields(schema_to_pyarrow(transaction.table_metadata.schema(), include_field_ids=False)), _fields(documented(wanted))
    if [*have.values()] == [*want.values()]:
        return False
    gone = [name for name, field in have.items() if name not in want or not _widens(field.field_type, want[name].field_type)]
    if gone:
        with transaction.update_schema(allow_incompatible_changes=True) as update:
            for name in gone:
                update.delete_column((name,))
    with transaction.update_schema() as update:
        update.union_by_name(documented(wanted))
        update.move_first((wanted.names[0],))
        for before, name in pairwise(wanted.names):
            update.move_after((name,), (before,))
    earlier = {field.name for schema in schemas for field in schema.fields}
    return any(name in earlier for name in want if name not in have or name in gone)


def documented(schema: pa.Schema) -> pa.Schema:
    """Columns that may all be null, with comments where pyiceberg looks for them."""
    import pyarrow as pa

    comments = {field.name: (field.metadata or {}).get(b"comment") for field in schema}
    return pa.schema(
        [pa.field(each.name, each.type, metadata={b"doc": text} if (text := comments[each.name]) else None) for each in schema]
    )


def _fields(schema: pa.Schema) -> Mapping[str, NestedField]:
    """Name -> field of Iceberg, all without numbers: so fields of two tables can be compared."""
    from pyiceberg.io.pyarrow import _pyarrow_to_schema_without_ids

    return {field.name: field for field in _pyarrow_to_schema_without_ids(schema).fields}


def _widens(have: IcebergType, want: IcebergType) -> bool:
    """Whether a type is another, or one that Iceberg lets it become. https://iceberg.apache.org/spec/#schema-evolution."""
    from pyiceberg.types import DecimalType, DoubleType, FloatType, IntegerType, LongType

    if isinstance(have, DecimalType) and isinstance(want, DecimalType):
        return have.scale == want.scale and have.precision <= want.precision
    return have == want or (type(have), type(want)) in {(IntegerType, LongType), (FloatType, DoubleType)}
