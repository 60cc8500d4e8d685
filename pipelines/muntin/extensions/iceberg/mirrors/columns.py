"""Columns of a mirror follow the columns of the windows.

A file of Parquet has names and no field ids: the table's name mapping says which name is which field. So at
any time a name stands for one field, for old snapshots too: a name that gets another field makes them
unreadable, and they have to go.

Bounds in manifests: the least and the greatest value that a mirror's own files tell of each column of each
file of windows.

https://iceberg.apache.org/spec/#manifests
"""

from __future__ import annotations

from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.update import TableUpdate
    from pyiceberg.types import IcebergType, NestedField
CUT = 16
"""So many characters of a text are in a bound, unless a table says otherwise; of an upper bound the last is
the next greater character.
"""


def bounds_of(manifest: bytes) -> Iterator[tuple[str, str, Any]]:
    """The address of a file, a column and a bound of it, for all bounds that a manifest holds; nothing of a
    list of manifests.

    Args:
        manifest: the content of a file of Avro.
    """
    from fastavro import reader
    from pyiceberg.conversions import from_bytes
    from pyiceberg.schema import Schema
    from pyiceberg.types import PrimitiveType

    entries: Any = reader(BytesIO(manifest))
    if "schema" not in entries.metadata:
        return
    schema = Schema.model_validate_json(entries.metadata["schema"])
    for entry in entries:
        file = entry["data_file"]
        for each in (*(file["lower_bounds"] or ()), *(file["upper_bounds"] or ())):
            kind = schema.find_type(each["key"])
            if isinstance(kind, PrimitiveType):
                yield (
                    file["file_path"],
                    str(schema.find_column_name(each["key"])),
                    _as_python(kind, from_bytes(kind, each["value"])),
                )


def _as_python(kind: Any, bound: Any) -> Any:  # noqa: ANN401 - types of Iceberg, and values of them
    """A bound as Arrow gives the values of its column: pyiceberg gives days and microseconds of dates and
    times.
    """
    from pyiceberg.types import DateType, TimestampType, TimestamptzType, TimeType
    from pyiceberg.utils.datetime import (
        days_to_date,
        micros_to_time,
        micros_to_timestamp,
        micros_to_timestamptz,
    )

    spelled: Any = {
        DateType: days_to_date,
        TimeType: micros_to_time,
        TimestampType: micros_to_timestamp,
        TimestamptzType: micros_to_timestamptz,
    }
    return spelled.get(type(kind), lambda value: value)(bound)


def is_cut_from(bound: Any, text: str) -> bool:  # noqa: ANN401 - as a bound is
    """Whether a bound is what is left of a longer text.

    >>> is_cut_from("a-very-long-name", "a-very-long-name-of-a-person"), is_cut_from("a-very-long-namf",
    ...     "a-very-long-name-of-a-person")
    (True, True)
    >>> is_cut_from("short", "short"), is_cut_from("a-very-long-namx", "a-very-long-name-of-a-person")
    (False, False)
    """
    if not isinstance(bound, str) or len(bound) != CUT or len(text) <= CUT:
        return False
    return bound[:-1] == text[: CUT - 1] and ord(bound[-1]) - ord(text[CUT - 1]) in (0, 1)


_MAPPING = "schema.name-mapping.default"


def follow_columns(metadata: TableMetadata, wanted: pa.Schema) -> list[TableUpdate]:
    """Updates that give a table the columns of the windows; none where it has them.

    A type that widens as Iceberg allows keeps its field. Another type is another field.

    Args:
        metadata: of the table.
        wanted: the columns of the windows; a comment is in the metadata of its field.

    Raises:
        TypeError: Iceberg does not have a type.
    """
    from pyiceberg.table.update import AddSchemaUpdate, SetCurrentSchemaUpdate, SetPropertiesUpdate

    schema = _schema(metadata, documented(wanted))
    updates: list[TableUpdate] = []
    if schema.fields != metadata.schema().fields:
        same_schemas = [each.schema_id for each in metadata.schemas if each.fields == schema.fields]
        updates += [] if same_schemas else [AddSchemaUpdate(schema=schema)]
        updates.append(
            SetCurrentSchemaUpdate(schema_id=same_schemas[0] if same_schemas else schema.schema_id)
        )
    names = _mapping(metadata, schema)
    if updates or metadata.properties.get(_MAPPING) != names:
        updates.append(SetPropertiesUpdate(updates={_MAPPING: names}))
    return updates


def of_other_fields(before: TableMetadata, after: TableMetadata) -> set[int]:
    """The numbers of the snapshots in which a name stands for another field than now: they could not be read
    rightly any more.
    """
    fields = {field.name: field.field_id for field in after.schema().fields}
    differs = {
        schema.schema_id: any(
            fields.get(field.name, field.field_id) != field.field_id for field in schema.fields
        )
        for schema in before.schemas
    }
    return {
        each.snapshot_id for each in before.snapshots if differs.get(each.schema_id, any(differs.values()))
    }


def documented(schema: pa.Schema) -> pa.Schema:
    """Columns that may all be null, with comments where pyiceberg looks for them."""
    import pyarrow as pa

    comments = {field.name: (field.metadata or {}).get(b"comment") for field in schema}
    return pa.schema(
        [
            pa.field(each.name, each.type, metadata={b"doc": text} if (text := comments[each.name]) else None)
            for each in schema
        ]
    )


def _schema(metadata: TableMetadata, wanted: pa.Schema) -> Schema:
    """The wanted columns as fields of the table: of the same number where the table has them."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow
    from pyiceberg.schema import Schema, assign_fresh_schema_ids
    from pyiceberg.types import NestedField

    there = {field.name: field for field in metadata.schema().fields}
    have, want = _fields(schema_to_pyarrow(metadata.schema(), include_field_ids=False)), _fields(wanted)
    fields, numbers = list[NestedField](), count(metadata.last_column_id + 1)
    for name, field in want.items():
        if name in have and _widens(have[name].field_type, field.field_type):
            kind = field.field_type if field.field_type.is_primitive else there[name].field_type
            fields.append(NestedField(there[name].field_id, name, kind, required=False, doc=field.doc))
        else:
            fields += assign_fresh_schema_ids(Schema(field), lambda: next(numbers)).fields
    return Schema(*fields, schema_id=1 + max(each.schema_id for each in metadata.schemas))


def _mapping(metadata: TableMetadata, schema: Schema) -> str:
    """Which name of a file is which field: of this schema, and of columns that only old snapshots have."""
    from pyiceberg.table.name_mapping import NameMapping

    names = {field.name for field in schema.fields}
    earlier = [each for each in metadata.name_mapping() or [] if not names & {*each.names}]
    return NameMapping([*schema.name_mapping, *earlier]).model_dump_json()


def _fields(schema: pa.Schema) -> Mapping[str, NestedField]:
    """Name -> field of Iceberg, all without numbers: so fields of two tables can be compared."""
    from pyiceberg.io.pyarrow import _pyarrow_to_schema_without_ids

    return {field.name: field for field in _pyarrow_to_schema_without_ids(schema).fields}


def _widens(have: IcebergType, want: IcebergType) -> bool:
    """Whether a type is the same, or one that Iceberg lets it become.
    https://iceberg.apache.org/spec/#schema-evolution.
    """
    from pyiceberg.types import DecimalType, DoubleType, FloatType, IntegerType, LongType

    if isinstance(have, DecimalType) and isinstance(want, DecimalType):
        return have.scale == want.scale and have.precision <= want.precision
    return have == want or (type(have), type(want)) in {(IntegerType, LongType), (FloatType, DoubleType)}
