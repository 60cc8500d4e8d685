"""The store on Delta tables. Tasks write the Parquet files; `deltalake` writes the log."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
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
_SETTINGS = {
    "delta.checkpointInterval": "20",  # so many commits at most are read one by one
    "delta.logRetentionDuration": "interval 7 days",
}


@dataclass(slots=True)
class _Known:
    """A table as it was last seen: the end of its log, its snapshot, and the table as deltalake read it, which may be older."""

    end: LogEnd
    snapshot: Snapshot
    opened: DeltaTable


class DeltaStore:
    """Tables below one folder. See `Store`."""

    def __init__(self, root: str) -> None:
        self.root = root

    def __reduce__(self) -> tuple[type, tuple[str]]:
        """Without tables: a store goes to every task of Spark."""
        return DeltaStore, (self.root,)

    def snapshot(self, table: str) -> Snapshot:
        path = self._path(table)
        known = _tables().get(path)
        if known and known.end.is_still_the_end():
            return known.snapshot
        opened = _newest(known) or _open(path)
        if opened is None:
            return Snapshot(-1, ())
        found = _listed(opened)
        _remember(path, _Known(LogEnd.of(Path(path), found.version), found, opened))
        return found

    def _path(self, table: str) -> str:
        """The path of a table, the same for all states of a pipeline."""
        return os.path.normpath(os.path.join(self.root, table))  # noqa: PTH118 - pathlib keeps `..`

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        for file in change.adds:
            check_file(Path(self._path(table), file.path), file.size)
        now = int(time.time() * 1000)
        # `data_change` is true of compaction, too: deltalake lets a commit remove what a commit without change of data has removed
        adds = [AddAction(file.path, file.size, {}, now, data_change=True, stats=_stats(file)) for file in change.adds]
        removes = [
            RemoveAction(path=f.path, data_change=True, deletion_timestamp=now, partition_values={}, size=f.size) for f in change.removes
        ]
        try:
            self._commit(table, base, change, adds, removes)
        except (CommitFailedError, DeltaError) as wrong:
            if any(word in str(wrong) for word in _CONFLICTS):
                raise ConflictError(f"{self._path(table)}: another run committed first ({wrong})") from wrong
            raise StateError(f"{self._path(table)}: the commit failed ({wrong}); nothing was changed, run again") from wrong
        except OSError as wrong:
            raise refused(f"the log of {self._path(table)}", wrong) from wrong

    def _commit(self, table: str, base: Snapshot, change: Change, adds: list[AddAction], removes: list[Any]) -> None:
        path, schema = self._path(table), Schema.from_arrow(change.schema)
        marks = CommitProperties(app_transactions=[Transaction(name, base.version + 1) for name in change.names])
        if base.version < 0:
            create_table_with_add_actions(path, schema, adds, mode="error", configuration=_SETTINGS, commit_properties=marks)
            return
        opened, grown = _at(path, base), False
        if change.whole and schema != opened.schema():
            opened.create_write_transaction(adds, "overwrite", schema, commit_properties=marks)
            return
        if new := _new_columns(opened, schema):
            _grow(opened, new, base.version)
            grown = True
        opened.create_write_transaction([*removes, *adds], "append", opened.schema(), commit_properties=marks)
        if not grown:
            _remember_committed(path, base, change, opened)

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        for source, target in staged.items():
            place = Path(self._path(table), target)
            place.parent.mkdir(parents=True, exist_ok=True)
            if Path(self.root, source).exists():
                Path(self.root, source).replace(place)

    def discard(self, folder: str) -> None:
        shutil.rmtree(Path(self.root, folder), ignore_errors=True)


_KEPT = threading.local()  # a table of deltalake must not be changed by two threads at once
_MOST = 64


def _tables() -> OrderedDict[str, _Known]:
    """The tables that this thread has seen, by path: a process that makes many runs reads no log twice."""
    if not hasattr(_KEPT, "tables"):
        _KEPT.tables = OrderedDict()
    return _KEPT.tables  # type: ignore[no-any-return]


def _remember(path: str, known: _Known) -> None:
    tables = _tables()
    tables[path] = known
    tables.move_to_end(path)
    while len(tables) > _MOST:
        tables.popitem(last=False)


def _remember_committed(path: str, base: Snapshot, change: Change, opened: DeltaTable) -> None:
    """Remember the table behind a commit, if it is the next one after `base` and the last: then what it holds is known without reading."""
    end = LogEnd.of(Path(path), base.version + 1)
    if end.is_still_the_end():
        gone = {file.path for file in change.removes}
        files = sorted([*(file for file in base.files if file.path not in gone), *change.adds], key=lambda file: file.path)
        _remember(path, _Known(end, Snapshot(base.version + 1, tuple(files), base.schema, base.identity), opened))


def _at(path: str, base: Snapshot) -> DeltaTable:
    """The table at the version of a snapshot."""
    known = _tables().get(path)
    if known and known.snapshot is base and known.end.is_still_the_end():
        if known.opened.version() != base.version:
            known.opened.update_incremental()
        if known.opened.version() == base.version:
            return known.opened
    return DeltaTable(path, version=base.version)


def _newest(known: _Known | None) -> DeltaTable | None:
    """A known table brought up to date; None where another table took its place, or its log was cleaned up."""
    if known is None or not known.end.is_there():
        return None
    try:
        known.opened.update_incremental()
    except DeltaError:
        return None
    return known.opened if known.opened.version() >= known.snapshot.version else None


def _open(path: str) -> DeltaTable | None:
    try:
        return DeltaTable(path)
    except TableNotFoundError:
        return None


def _listed(opened: DeltaTable) -> Snapshot:
    actions = pa.table(opened.get_add_actions(flatten=True)).select(["path", "size_bytes", "num_records"])
    rows = zip(*(column.to_pylist() for column in actions.columns), strict=True)
    files = (File(path, size, count or 0) for path, size, count in rows)
    ascending = tuple(sorted(files, key=lambda file: file.path))
    return Snapshot(opened.version(), ascending, pa.schema(opened.schema().to_arrow()), str(opened.metadata().id))


def snapshot_at(path: str, version: int) -> Snapshot:
    """A table at a version that it had.

    Raises:
        StateError: the log does not know the version any more, or files of it are removed.
    """
    try:
        found = _listed(DeltaTable(path, version=version))
    except (DeltaError, OSError) as wrong:
        raise StateError(f"{path} has no version {version} any more ({wrong}); its log is kept for seven days") from wrong
    gone = [file.path for file in found.files if not Path(path, file.path).exists()]
    if gone:
        raise StateError(f"{path}: {len(gone)} files of version {version} are removed, {gone[0]} first; vacuum takes what is replaced")
    return found


def _new_columns(opened: DeltaTable, schema: Schema) -> list[Field]:
    """The columns that a table lacks: while all batches are empty, it lacks those of its fields."""
    known = {field.name for field in opened.schema().fields}
    return [field for field in schema.fields if field.name not in known]


def _grow(opened: DeltaTable, new: list[Field], base_version: int) -> None:
    opened.alter.add_columns(new)
    opened.update_incremental()
    if opened.version() != base_version + 1:
        raise ConflictError(f"another run committed while columns were added to {opened.table_uri}")


def _stats(file: File) -> str:
    """The number of rows, and no ranges of columns: deltalake's dataset takes a column without a range for empty if others have one."""
    return json.dumps({"numRecords": file.rows})
