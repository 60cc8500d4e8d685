"""A snapshot that adds and removes files by name, and keeps few manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _MergeAppendFiles, _OverwriteFiles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table, Transaction
    from pyiceberg.table.snapshots import Snapshot


class _Replacing(_OverwriteFiles, _MergeAppendFiles):
    """As pyiceberg overwrites; its small manifests become one, and these of files that are gone are left out."""

    def _validate_concurrency(self) -> None:
        """Behind another run's snapshot nothing is staged again: that run may have mirrored the same files."""
        raise CommitFailedException


def files_of(table: Table, snapshot: Snapshot | None) -> dict[str, DataFile]:
    """Path -> file, of a snapshot."""
    if snapshot is None:
        return {}
    manifests = snapshot.manifests(table.io)
    return {entry.data_file.file_path: entry.data_file for each in manifests for entry in each.fetch_manifest_entry(table.io)}


def add_snapshot(
    transaction: Transaction, table: Table, have: Mapping[str, DataFile], paths: Sequence[str], properties: Mapping[str, str]
) -> dict[str, DataFile]:
    """A snapshot with some files, and no other; the same, by path.

    Args:
        transaction, table: which the snapshot is for.
        have: the files of the snapshot before.
        paths: of the files.
        properties: of the snapshot.

    Raises:
        OSError: a file is gone.
        ValueError: a file has other columns than the table.
    """
    metadata, wanted = transaction.table_metadata, {*paths}
    gone = [file for path, file in have.items() if path not in wanted]
    new = {path: parquet_file_to_data_file(table.io, metadata, path) for path in paths if path not in have}
    operation = Operation.OVERWRITE if gone else Operation.APPEND
    snapshot = _Replacing(operation=operation, transaction=transaction, io=table.io, snapshot_properties=dict(properties))
    for file in gone:
        snapshot.delete_data_file(file)
    for file in new.values():
        file.spec_id = metadata.default_spec_id  # by which pyiceberg finds the file again when the next version replaces it
        snapshot.append_data_file(file)
    snapshot.commit()
    return {path: file for path, file in have.items() if path in wanted} | new
