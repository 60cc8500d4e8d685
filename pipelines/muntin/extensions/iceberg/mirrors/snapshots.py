"""Snapshots of a mirror: which files are new, which are gone. Manifests without a file that is gone stay,
until there are many.

https://iceberg.apache.org/spec/#manifests
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.manifest import (
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.table.snapshots import (
    Operation,
    Snapshot,
    SnapshotSummaryCollector,
    Summary,
    update_snapshot_summaries,
)

from muntin.extensions.iceberg.mirrors.own_files import NamedByDigest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile
    from pyiceberg.table.metadata import TableMetadata

MANY = 16
"""So many manifests become one."""
_FORMAT = 2
_PACKED = "deflate"


def paths_of(snapshot: Snapshot | None, io: FileIO) -> set[str]:
    """The addresses of the files of a snapshot."""
    if snapshot is None:
        return set()
    return {
        entry.data_file.file_path
        for each in snapshot.manifests(io)
        for entry in each.fetch_manifest_entry(io)
    }


class Snapshots:
    """Makes snapshots of a table, each upon the one before. Nothing names them before a commit does."""

    def __init__(self, metadata: TableMetadata, io: FileIO, folder: str, base: Snapshot | None) -> None:
        self._metadata, self._io, self._folder, self._base = metadata, io, folder, base
        self._sequence = metadata.last_sequence_number

    def next(self, new: Collection[str], gone: Collection[str], properties: Mapping[str, str]) -> Snapshot:
        """A snapshot with new files and without removed files.

        Args:
            new: addresses of the files.
            gone: of files of the snapshot before.
            properties: of the snapshot.

        Raises:
            OSError: a file is not there.
            ValueError: a file has other columns than the table.
        """
        number = self._metadata.new_snapshot_id()
        added = [parquet_file_to_data_file(self._io, self._metadata, path) for path in sorted(new)]
        stay, entries = self._manifests(gone)
        removed = [entry for entry in entries if entry.data_file.file_path in gone]
        manifests = self._written(number, added, entries, gone) + stay
        self._sequence += 1
        parent = self._base.snapshot_id if self._base else None
        buffer = NamedByDigest()
        with write_manifest_list(_FORMAT, buffer, number, parent, self._sequence, _PACKED) as written:
            written.add_manifests(manifests)
        place = buffer.keep(self._io, lambda digest: f"{self._folder}/snap-{number}-0-{digest}.avro")
        summary = self._summary(added, [entry.data_file for entry in removed], properties)
        schema = self._metadata.current_schema_id
        self._base = Snapshot(
            snapshot_id=number,
            parent_snapshot_id=parent,
            sequence_number=self._sequence,
            manifest_list=place,
            summary=summary,
            schema_id=schema,
        )
        return self._base

    def _manifests(self, gone: Collection[str]) -> tuple[list[ManifestFile], list[ManifestEntry]]:
        """The manifests that stay as they are; and the entries of the other manifests, to be written anew."""
        manifests = self._base.manifests(self._io) if self._base else []
        alive = [each for each in manifests if each.has_added_files() or each.has_existing_files()]
        stay, entries = list[ManifestFile](), list[ManifestEntry]()
        if not gone and len(alive) < MANY:
            return alive, entries
        for manifest in alive:
            of_it = manifest.fetch_manifest_entry(self._io)
            if len(alive) >= MANY or any(entry.data_file.file_path in gone for entry in of_it):
                entries += of_it
            else:
                stay.append(manifest)
        return stay, entries

    def _written(
        self, number: int, added: Sequence[DataFile], entries: Sequence[ManifestEntry], gone: Collection[str]
    ) -> list[ManifestFile]:
        """The manifest with these files, if there are any."""
        if not added and not entries:
            return []
        spec, schema = self._metadata.spec(), self._metadata.schema()
        buffer = NamedByDigest()
        with write_manifest(_FORMAT, spec, schema, buffer, number, _PACKED) as writer:
            for file in added:
                writer.add(
                    ManifestEntry.from_args(
                        status=ManifestEntryStatus.ADDED, snapshot_id=number, data_file=file
                    )
                )
            for entry in entries:
                (writer.delete if entry.data_file.file_path in gone else writer.existing)(entry)
        buffer.keep(self._io, lambda digest: f"{self._folder}/{digest}-m0.avro")
        return [writer.to_manifest_file()]

    def _summary(
        self, added: Sequence[DataFile], removed: Sequence[DataFile], properties: Mapping[str, str]
    ) -> Summary:
        counts, schema = SnapshotSummaryCollector(), self._metadata.schema()
        for file in added:
            counts.add_file(file, schema)
        for file in removed:
            counts.remove_file(file, schema)
        operation = Operation.OVERWRITE if removed else Operation.APPEND
        before = self._base.summary if self._base else None
        return update_snapshot_summaries(Summary(operation, **counts.build(), **properties), before)
