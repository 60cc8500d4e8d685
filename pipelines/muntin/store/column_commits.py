"""Commits that make a table or change its columns.

The first is appended, as commits of files are; deltalake writes the other commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from muntin.errors import ConflictError
from muntin.files.paths import AnyPath, options_of, table_address
from muntin.store.log_append import append, stats
from muntin.store.log_checkpoint import SETTINGS
from muntin.store.seen_tables import table_at
from muntin.store.store import Change, Snapshot

_PLAIN = 2
"""The version of Delta's protocol whose commits are nothing but files and names, if no setting of the table
asks for more.
"""
_NEEDS_A_FEATURE = "timestamp_ntz"
"""A table with columns of this type has another protocol."""


def only_files(opened: DeltaTable, change: Change) -> bool:
    """Whether a commit is nothing but files and names: the table has its columns, and no feature that another
    engine gave it.
    """
    schema = _schema(change)
    protocol = opened.protocol()
    settings = opened.metadata().configuration
    return (
        protocol.min_writer_version <= _PLAIN
        and settings.get("delta.appendOnly", "false") == "false"
        and not _new_columns(opened, schema)
        and not (change.whole and schema != opened.schema())
    )


def commit_columns(path: AnyPath, base: Snapshot, change: Change, now_ms: int) -> None:
    """A commit that may make the table, or change its columns, or need more than files and names."""
    schema = _schema(change)
    if base.version < 0 and _NEEDS_A_FEATURE not in schema.to_json():
        append(path, base.version, change, now_ms, _of_new_table(schema, change, now_ms))
        return
    adds = [
        AddAction(file.path, file.size, {}, now_ms, data_change=True, stats=stats(file, change))
        for file in change.adds
    ]
    removes = _removed(change, now_ms)
    transactions = [Transaction(name, base.version + 1) for name in change.names]
    marks = CommitProperties(app_transactions=transactions)
    if base.version < 0:
        # a second try would come behind the other table's first commit, unchecked: deltalake 1.6 lets both of
        # two first writers win
        marks = CommitProperties(app_transactions=transactions, max_commit_retries=0)
        named = {"name": change.texts.name or None, "description": change.texts.description or None}
        how = {
            "configuration": SETTINGS,
            "commit_properties": marks,
            "storage_options": options_of(str(path)),
        }
        create_table_with_add_actions(table_address(str(path)), schema, adds, mode="error", **how, **named)  # type: ignore[arg-type]
        return
    opened = table_at(path, base)
    if change.whole and schema != opened.schema():
        opened.create_write_transaction(adds, "overwrite", schema, commit_properties=marks)
        return
    if new := _new_columns(opened, schema):
        opened.alter.add_columns(new)
        opened.update_incremental()
        if opened.version() != base.version + 1:
            raise ConflictError(f"another run committed while columns were added to {opened.table_uri}")
    opened.create_write_transaction([*removes, *adds], "append", opened.schema(), commit_properties=marks)


def _of_new_table(schema: Schema, change: Change, now_ms: int) -> list[dict[str, dict[str, Any]]]:
    """The actions that make a table
    (https://github.com/delta-io/delta/blob/master/PROTOCOL.md#change-metadata).
    """
    about = {
        "id": str(uuid4()),
        "name": change.texts.name or None,
        "description": change.texts.description or None,
    }
    columns = {
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema.to_json(),
        "partitionColumns": [],
    }
    metadata = {"metaData": {**about, **columns, "configuration": SETTINGS, "createdTime": now_ms}}
    return [{"protocol": {"minReaderVersion": 1, "minWriterVersion": _PLAIN}}, metadata]


def _schema(change: Change) -> Schema:
    return Schema.from_arrow(commented(change.schema, change.texts.comments))


def _removed(change: Change, now_ms: int) -> list[Any]:
    return [
        RemoveAction(
            path=file.path, data_change=True, deletion_timestamp=now_ms, partition_values={}, size=file.size
        )
        for file in change.removes
    ]


def _new_columns(opened: DeltaTable, schema: Schema) -> list[Field]:
    """The columns that a table lacks: while all batches are empty, it lacks the columns of its fields."""
    names = {field.name for field in opened.schema().fields}
    return [field for field in schema.fields if field.name not in names]


def commented(schema: pa.Schema, comments: Mapping[str, str]) -> pa.Schema:
    """The schema of a table with comments, as Delta has them.

    >>> commented(pa.schema([("n", pa.int64())]), {"n": "rows"}).field("n").metadata
    {b'comment': b'rows'}
    """
    return pa.schema(
        [
            each.with_metadata({"comment": comments[each.name]}) if each.name in comments else each
            for each in schema
        ]
    )
