"""How a Delta table's rows lie in its files: its columns, the columns that its folders give, and the features
that it needs.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from muntin.definition.durations import DAY_US, spell
from muntin.errors import SourceError
from muntin.files.object_stores import refusal
from muntin.files.paths import options_of, table_address
from muntin.sources.logged.log import check_columns
from muntin.sources.logged.numbered_fields import NumberedField
from muntin.sources.repeated_rows import CHANGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deltalake import DeltaTable

    from muntin.sources.logged.log import Added
    from muntin.sources.tables import TableSource

_SQL = {
    "string": "VARCHAR",
    "long": "BIGINT",
    "integer": "INTEGER",
    "short": "SMALLINT",
    "byte": "TINYINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "binary": "BLOB",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
}
_DECIMAL = re.compile(r"decimal\(\d+, ?\d+\)")
_NAME = re.compile(r"[A-Za-z_]\w*")
NULL = "__HIVE_DEFAULT_PARTITION__"
# What a reader must know of Delta, and that changes nothing where only added files of Parquet are read.
_READ = {
    "timestampNtz",
    "columnMapping",
    "deletionVectors",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
}
_KEPT = {
    "delta.deletedFileRetentionDuration": "interval 1 week",
    "delta.logRetentionDuration": "interval 30 days",
}
"""Property -> how long a table keeps removed files and its log where it says nothing else."""
_UNITS = {
    "week": 7 * DAY_US,
    "day": DAY_US,
    "hour": DAY_US // 24,
    "minute": DAY_US // 1440,
    "second": 1_000_000,
}
_PART = re.compile(r"(\d+) (week|day|hour|minute|second)s?")
_SECOND, _THIRD = 2, 3  # protocols: with column mapping; with features, by name


class Layout(NamedTuple):
    """The columns of a table, by its newest version.

    Attributes:
        types: column -> its Delta type: a name, or a dict of a nested one.
        partitions: the columns that are not in the files.
        features: what a reader must know in addition to the first protocol.
        mapped: the columns, where they have other names in the files.
        settings: the properties of the table, as "delta.logRetentionDuration".
    """

    types: Mapping[str, Any]
    partitions: tuple[str, ...]
    features: frozenset[str]
    mapped: tuple[NumberedField, ...]
    settings: Mapping[str, str]


def _open_table(root: str) -> DeltaTable:
    """A table as deltalake opens it."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        return DeltaTable(table_address(root), storage_options=options_of(root))
    except (DeltaError, OSError, ValueError) as wrong:
        if unreached := refusal(root, str(wrong)):
            raise unreached from None
        text = str(wrong).partition("\n")[0]
        raise SourceError(
            f"{root}: the table cannot be opened ({text}); mend the path in sources.table(...), or the table"
        ) from wrong


def layout(root: str) -> Layout:
    """The columns of a table."""
    opened = _open_table(root)
    metadata = opened.metadata()
    protocol = opened.protocol()
    fields = json.loads(opened.schema().to_json())["fields"]
    mode = metadata.configuration.get("delta.columnMapping.mode", "none")
    mapped = protocol.min_reader_version >= _SECOND and mode != "none"
    features = protocol.reader_features if protocol.min_reader_version >= _THIRD else ()
    types = {each["name"]: each["type"] for each in fields}
    return Layout(
        types,
        tuple(metadata.partition_columns),
        frozenset(features or ()),
        _mapped(fields, metadata.partition_columns, by_number=mode == "id") if mapped else (),
        dict(metadata.configuration),
    )


def check_layout(source: TableSource, table_layout: Layout) -> None:
    """Refuse a table that cannot be read as the source says.

    Features of Delta that are not known here are refused.
    """
    if unknown := sorted(table_layout.features - _READ):
        raise SourceError(
            f"{source.path}: to read it takes Delta's {', '.join(unknown)}, which sources.table does not"
            " know; read it with sources.spark(...)"
        )
    for name in table_layout.partitions:
        if not _NAME.fullmatch(name) or _sql(table_layout.types[name]) in (None, "BLOB"):
            raise SourceError(
                f"{source.path}: sources.table cannot read its partition column {name!r}; read it with"
                " sources.spark(...)"
            )
    check_columns(
        source, table_layout.types, {name for name, kind in table_layout.types.items() if kind == "timestamp"}
    )
    if source.changes:
        _check_kept(source, table_layout, source.changes.within_us)


def _check_kept(source: TableSource, table_layout: Layout, within_us: int) -> None:
    """Refuse a table whose writer may remove what is needed while rows may still change."""
    for name, usual in _KEPT.items():
        kept_us = _interval_us(table_layout.settings.get(name, usual))
        if kept_us is not None and kept_us < within_us:
            raise SourceError(
                f"{source.path}: rows may change for {spell(within_us)} (within= of rows), and the table "
                f"keeps for {spell(kept_us)} what it takes to read their batches again ({name}); say a "
                "shorter within=, or let the table keep it some days longer: ALTER TABLE ... SET"
                f" TBLPROPERTIES ('{name}' = 'interval {-(-within_us // DAY_US) + 2} days')"
            )


def _interval_us(text: str) -> int | None:
    """A duration as Delta writes it, microseconds; None where it is written otherwise.

    >>> _interval_us("interval 1 week 12 hours") == 180 * 3_600_000_000
    True
    """
    parts = _PART.findall(text.lower())
    return sum(int(count) * _UNITS[unit] for count, unit in parts) if parts else None


def check_folders(source: TableSource, added: Iterable[Added]) -> None:
    """Refuse a file whose folders do not say what the log says of its partition, where they are to say it.

    `source`: with the columns of its table.
    """
    for each in added if not source.numbered else ():
        parts = dict(part.split("=", 1) for part in each.path.split("/")[:-1] if "=" in part)
        for name in source.hive:
            here = None if parts.get(name) in (None, NULL) else unquote(parts[name])
            if name not in parts or here != (each.partition.get(name, here) or None):
                raise SourceError(
                    f"{source.path}/{each.path}: lies in no folder that says"
                    f" {name}={each.partition.get(name)}, as the log does; read the table with"
                    " sources.spark(...)"
                )


def with_columns_of(source: TableSource, table_layout: Layout) -> TableSource:
    """The source with the columns of its table: columns that folders give, and columns that older files may
    lack.
    """
    hive = {name: kind for name in table_layout.partitions if (kind := _sql(table_layout.types[name]))}
    columns = {
        name: kind for name, each in table_layout.types.items() if name not in hive and (kind := _sql(each))
    }
    of_feed = {CHANGE: "VARCHAR"} if source.changes else {}
    numbered = table_layout.mapped and (
        *table_layout.mapped,
        *(NumberedField(-1, name, (name,)) for name in of_feed),
    )
    return replace(
        source,
        hive=hive,
        columns={**columns, **of_feed},
        types={**hive, **source.types},
        numbered=numbered,
    )


def _mapped(
    fields: Sequence[Mapping[str, Any]], partitions: Sequence[str] = (), *, by_number: bool
) -> tuple[NumberedField, ...]:
    """Columns or members as files have them. `by_number`: whether they are looked for by number. What is in
    no file is left out.
    """

    def field(name: str, facts: Mapping[str, Any], kind: Any) -> NumberedField:  # noqa: ANN401 - JSON
        inner = kind if isinstance(kind, dict) else {}
        parts = [inner[each] for each in ("elementType", "keyType", "valueType") if each in inner]
        within = _mapped(inner.get("fields", ()), by_number=by_number)
        return NumberedField(
            facts.get("delta.columnMapping.id", -1) if by_number else -1,
            name,
            (facts.get("delta.columnMapping.physicalName", name),)
            if name in partitions or not by_number
            else (),
            within or tuple(field("", {}, each) for each in parts),
        )

    return tuple(field(each["name"], each["metadata"], each["type"]) for each in fields)


def _sql(kind: Any) -> str | None:  # noqa: ANN401 - JSON
    """The SQL type of a plain Delta type; None of a nested one."""
    if not isinstance(kind, str):
        return None
    return kind.upper() if _DECIMAL.fullmatch(kind) else _SQL.get(kind)
