"""The fields of a table of Iceberg: what its files may lack, and by which numbers they are found there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US, spell
from muntin.errors import SourceError
from muntin.sources.logged.log import check_columns
from muntin.sources.logged.numbered_fields import NumberedField
from muntin.sources.repeated_rows import CHANGE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.types import IcebergType, NestedField

    from muntin.sources.tables import TableSource

_SQL = {
    "boolean": "BOOLEAN",
    "int": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "string": "VARCHAR",
    "binary": "BLOB",
}
_KEPT, _USUAL_MS = "history.expire.max-snapshot-age-ms", 432_000_000
_DAY_MS = DAY_US // 1000


def check_fields(source: TableSource, metadata: TableMetadata) -> None:
    """Refuse a table that cannot be read as the source says.

    Raises:
        SourceError: it lacks a column that the source names, has a field that is not null where a file lacks
            it, or may forget snapshots while their rows may still change.
    """
    fields = metadata.schema().fields
    check_columns(
        source,
        [each.name for each in fields],
        [each.name for each in fields if str(each.field_type).startswith("timestamptz")],
    )
    for each in fields:
        if each.initial_default is not None:
            raise SourceError(
                f"{source.path}: {each.name} is {each.initial_default!r} where a file lacks it"
                f" (initial-default), which {source.call} cannot read; read the table with sources.spark(...)"
            )
    kept_us, within_us = (
        int(metadata.properties.get(_KEPT, _USUAL_MS)) * 1000,
        source.changes.within_us if source.changes else 0,
    )
    if kept_us < within_us:
        raise SourceError(
            f"{source.path}: rows may change for {spell(within_us)} (within= of rows), and the table keeps"
            f" snapshots for {spell(kept_us)} ({_KEPT}); say a shorter within=, or let the table keep"
            f" them some days longer: ALTER TABLE ... SET TBLPROPERTIES ('{_KEPT}' ="
            f" '{(-(-within_us // DAY_US) + 2) * _DAY_MS}')"
        )


def with_columns_of(source: TableSource, metadata: TableMetadata) -> TableSource:
    """The source with the columns that older files may lack.

    A column by which the table is partitioned as it is, is none of these: files that came from Hive have it
    in the names of folders alone.
    """
    from pyiceberg.transforms import IdentityTransform

    folders = {
        part.source_id
        for spec in metadata.partition_specs
        for part in spec.fields
        if isinstance(part.transform, IdentityTransform)
    }
    fields = [each for each in metadata.schema().fields if each.field_id not in folders]
    columns = {each.name: kind for each in fields if (kind := _sql(each.field_type))}
    columns |= {CHANGE: "VARCHAR"} if source.changes else {}
    return replace(source, columns=columns, numbered=numbered_fields(metadata))  # type: ignore[call-arg]  # of Iceberg


def numbered_fields(metadata: TableMetadata) -> tuple[NumberedField, ...]:
    """The fields of a table, as its files are read by."""
    names = dict[int, tuple[str, ...]]()
    mapping = metadata.name_mapping()
    stack = [*mapping] if mapping else []
    while stack:
        each = stack.pop()
        names[each.field_id] = tuple(each.names)
        stack += each.fields
    by_name = mapping is None and _one_name_a_field(metadata)
    return _numbered(
        metadata.schema().fields, lambda field: (field.name,) if by_name else names.get(field.field_id, ())
    )


def _numbered(
    fields: Sequence[NestedField], names: Callable[[NestedField], tuple[str, ...]]
) -> tuple[NumberedField, ...]:
    return tuple(
        NumberedField(each.field_id, each.name, names(each), _numbered(_inner(each.field_type), names))
        for each in fields
    )


def _inner(kind: IcebergType) -> Sequence[NestedField]:
    """The members of a struct, the element of a list, the key and the value of a map."""
    parts = (getattr(kind, name, None) for name in ("element_field", "key_field", "value_field"))
    return getattr(kind, "fields", ()) or [each for each in parts if each is not None]


def _one_name_a_field(metadata: TableMetadata) -> bool:
    """Whether no name ever stood for another field, by all schemas that the table had: none of them is
    forgotten.
    """
    if {each.schema_id for each in metadata.schemas} != {*range(metadata.current_schema_id + 1)}:
        return False
    pairs = {
        pair
        for schema in metadata.schemas
        for pair in {number: schema.find_column_name(number) or "" for number in schema.field_ids}.items()
    }
    return len(pairs) == len({number for number, _ in pairs}) == len({name for _, name in pairs})


def _sql(kind: IcebergType) -> str | None:
    """The SQL type of a plain type; None of another, which no file may lack.

    >>> from pyiceberg.types import DecimalType, FixedType, UUIDType
    >>> [_sql(kind) for kind in (DecimalType(12, 2), FixedType(8), UUIDType())]
    ['DECIMAL(12, 2)', 'BLOB', None]
    """
    text = str(kind)
    if text.startswith("decimal"):
        return text.upper()
    return "BLOB" if text.startswith("fixed") else _SQL.get(text)
