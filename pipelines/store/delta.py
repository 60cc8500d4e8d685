"""The store on Delta tables. Tasks write the Parquet files; `deltalake` writes the log."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from pipelines.errors import ConflictError, StateError
from pipelines.store.disk import refused
from pipelines.store.log_end import LogEnd
from pipelines.store.parquet import check_file
from pipelines.store.store import File, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.store.store import Change

_CONFLICTS = ("concurrent", "Concurrent", "already exists", "Failed to commit", "version")


class DeltaStore:
    """Tables below one folder. See `Store`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._latest: dict[str, tuple[LogEnd, Snapshot]] = {}

    def __reduce__(self) -> tuple[type, tuple[str]]:
        """Without snapshots: a store goes to every task of Spark."""
        return DeltaStore, (self.root,)

    def snapshot(self, table: str) -> Snapshot:
        end, known = self._latest.get(table, (None, None))
        if end and known and end.is_still_the_end():
            return known
        opened = self._open(table)
        if opened is None:
            return Snapshot(-1, ())
        found = self._listed(opened)
        self._latest[table] = LogEnd.of(Path(self.root, table), found.version), found
        return found

    @staticmethod
    def _listed(opened: DeltaTable) -> Snapshot:
        rows = pa.table(opened.get_add_actions(flatten=True)).to_pylist()
        files = (File(row["path"], row["size_bytes"], row["num_records"] or 0) for row in rows)
        return Snapshot(opened.version(), tuple(sorted(files, key=lambda file: file.path)), pa.schema(opened.schema().to_arrow()))

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        for file in change.adds:
            check_file(Path(self.root, table, file.path), file.size)
        now = int(time.time() * 1000)
        adds = [AddAction(file.path, file.size, {}, now, data_change=True, stats=_stats(file)) for file in change.adds]
        removes = [
            RemoveAction(path=f.path, data_change=True, deletion_timestamp=now, partition_values={}, size=f.size) for f in change.removes
        ]
        try:
            self._commit(table, base, change, adds, removes)
        except (CommitFailedError, DeltaError) as wrong:
            if any(word in str(wrong) for word in _CONFLICTS):
                raise ConflictError(f"{table}: another run committed first ({wrong})") from wrong
            raise StateError(f"{table}: the commit failed ({wrong}); nothing was changed, run again") from wrong
        except OSError as wrong:
            raise refused(f"the log of {table}", wrong) from wrong

    def _commit(self, table: str, base: Snapshot, change: Change, adds: list[AddAction], removes: list[Any]) -> None:
        path, schema = str(Path(self.root, table)), Schema.from_arrow(change.schema)
        if base.version < 0:
            marks = CommitProperties(app_transactions=[Transaction(name, 1) for name in change.names])
            create_table_with_add_actions(path, schema, adds, mode="error", commit_properties=marks)
            return
        opened = DeltaTable(path, version=base.version)
        marks = CommitProperties(app_transactions=[Transaction(name, (opened.transaction_version(name) or 0) + 1) for name in change.names])
        opened.create_write_transaction(
            [*removes, *adds], "append", self._grown(opened, change.schema, base.version), commit_properties=marks
        )

    @staticmethod
    def _grown(opened: DeltaTable, schema: pa.Schema, base_version: int) -> Schema:
        """The table's schema with the new columns: while all batches are empty, a table lacks the columns of its fields."""
        known = {field.name for field in opened.schema().fields}
        new = [field for field in Schema.from_arrow(schema).fields if field.name not in known]
        if new:
            opened.alter.add_columns(new)
            opened.update_incremental()
            if opened.version() != base_version + 1:
                raise ConflictError(f"another run committed while columns were added to {opened.table_uri}")
        return opened.schema()

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        for source, target in staged.items():
            place = Path(self.root, table, target)
            place.parent.mkdir(parents=True, exist_ok=True)
            if Path(self.root, source).exists():
                Path(self.root, source).replace(place)

    def footer(self, table: str, path: str) -> Mapping[str, str]:
        texts = pq.read_metadata(Path(self.root, table, path)).metadata or {}
        return {key.decode(): value.decode(errors="replace") for key, value in texts.items()}

    def discard(self, folder: str) -> None:
        shutil.rmtree(Path(self.root, folder), ignore_errors=True)

    def _open(self, table: str) -> DeltaTable | None:
        try:
            return DeltaTable(str(Path(self.root, table)))
        except TableNotFoundError:
            return None


def _stats(file: File) -> str:
    """The number of rows, and no ranges of columns: deltalake's dataset takes a column without a range for empty if others have one."""
    return json.dumps({"numRecords": file.rows})
