"""The snapshots of a table of Iceberg as a log of commits.

https://iceberg.apache.org/spec/#snapshots

snapshots   1  <-  2  <-  3        4 (its parent is 2)     2
log         1      2      3        4                       2
a commit    adds   adds   adds     puts the table back:    puts it back
                                   3 is no part of it

The table's snapshot log says which snapshot was current, and since when. What lies between two entries, as
snapshots of one transaction, follows from their parents. Snapshots expire: the log begins behind the last
that is lacking.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from muntin.definition.relative_paths import is_object_store
from muntin.errors import SourceError, StorageError
from muntin.extensions.iceberg.catalogs import catalog_of
from muntin.extensions.iceberg.source.fields import check_fields, with_columns_of
from muntin.files.connections import connection_of_environment
from muntin.sources.logged.log import Added, Commit, Log

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyiceberg.manifest import ManifestEntry
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

    from muntin.extensions.iceberg.source.declaration import IcebergSource
    from muntin.files.connections import Connection
    from muntin.sources.tables import TableSource

_LOCAL = re.compile(r"file:/+(?=/)|file:(?=/)")
_S3 = re.compile(r"s3[an]://")


class Logged(NamedTuple):
    """A snapshot that is in the log. `back`: whether the table was put back to it, or to one before it."""

    made_us: int
    snapshot: Snapshot
    back: bool


def snapshot_log(source: IcebergSource) -> SnapshotLog:
    """The log of a table.

    Raises:
        SourceError: there is no table, or the catalog refuses. StorageError: it does not answer.
        MissingPackageError: pyiceberg is not installed.
    """
    with catalog_of(source.catalog, _connection, down=StorageError, refused=SourceError) as catalog:
        from pyiceberg.exceptions import NoSuchTableError

        try:
            table = catalog.load_table(source.table)
        except NoSuchTableError as wrong:
            raise SourceError(
                f"{source.path}: there is no such table; mend its name in {source.call}"
            ) from wrong
    snapshots = kept_snapshots(table.metadata)
    # the first format has none
    if not snapshots and (table.metadata.snapshots or getattr(table.metadata, "last_sequence_number", 0)):
        raise SourceError(
            f"{source.path}: it had rows, and has no current snapshot; finish what replaces it, or put it"
            " back to a snapshot"
        )
    made_us = {version: each.made_us for version, each in enumerate(snapshots)}
    return SnapshotLog(f"{source.path} {table.metadata.table_uuid}", made_us, table, snapshots)


def _connection(name: str) -> Connection:
    mend = (
        f"name the catalog in pyiceberg's configuration (PYICEBERG_CATALOG__{name.upper()}__URI), or set it"
        " to a connection"
    )
    return connection_of_environment(name, SourceError, mend)


def kept_snapshots(metadata: TableMetadata) -> list[Logged]:
    """The snapshots that were current one after the other, as far back as none is lacking, and when each
    became it.
    """
    there = {each.snapshot_id: each for each in metadata.snapshots}
    snapshots: list[Logged] = []
    seen: set[int] = set()
    for made_ms, number in _entries(metadata, there):
        chain: list[Snapshot] = []
        at = there.get(number)
        while at is not None and at.snapshot_id not in seen:
            chain.append(at)
            seen.add(at.snapshot_id)
            at = there.get(at.parent_snapshot_id or -1)
        if at is None:  # its parent, or itself, is lacking
            snapshots, seen = [], {each.snapshot_id for each in chain}
        back = at is not None and (at is not snapshots[-1].snapshot or not chain)
        steps = chain[::-1] or ([at] if at else [])
        snapshots += [Logged(made_ms * 1000, each, back and not place) for place, each in enumerate(steps)]
    return snapshots


def _entries(metadata: TableMetadata, there: Mapping[int, Snapshot]) -> list[tuple[int, int]]:
    """When which snapshot became the current one, ms and its number; by its ancestors where the table does
    not log it.
    """
    entries = [(each.timestamp_ms, each.snapshot_id) for each in metadata.snapshot_log]
    if metadata.current_snapshot_id in (None, *(number for _, number in entries[-1:])):
        return entries
    ancestors, at = [], there.get(metadata.current_snapshot_id or -1)
    while at is not None:
        ancestors.append((at.timestamp_ms, at.snapshot_id))
        at = there.get(at.parent_snapshot_id or -1)
    return ancestors[::-1]


@dataclass(frozen=True, slots=True)
class SnapshotLog(Log):
    """The snapshots of a table; a version is the place of a snapshot among those that are kept.

    `root`: its name and UUID.
    """

    table: Table = field(repr=False)
    snapshots: Sequence[Logged]

    kept_by = "expire_snapshots, history.expire.max-snapshot-age-ms"
    removed_by = "expire_snapshots", "history.expire.max-snapshot-age-ms"

    @property
    def whole(self) -> bool:
        """Whether it begins with the table's first snapshot.

        Snapshots of the first format have no numbers, so that it cannot be said.
        """
        first = [each.snapshot for each in self.snapshots[:1]]
        return all(each.parent_snapshot_id is None and each.sequence_number == 1 for each in first)

    @property
    def mark(self) -> int:
        return self.snapshots[-1].snapshot.snapshot_id if self.snapshots else 0

    def since(self, mark: int) -> range:
        versions = [
            version for version, each in enumerate(self.snapshots) if each.snapshot.snapshot_id == mark
        ]
        return range(versions[-1] + 1 if versions else 0, len(self.snapshots))

    def named(self, versions: Sequence[int]) -> str:
        numbers = list(
            dict.fromkeys(str(self.snapshots[version].snapshot.snapshot_id) for version in versions)
        )
        if len(numbers) > 1:
            return f"snapshots {numbers[0]} to {numbers[-1]}"
        return f"snapshot {numbers[0]}" if numbers else ""

    def address(self, added: Added) -> str:
        """The path of a file, which may lie anywhere."""
        return _S3.sub("s3://", _LOCAL.sub("", added.path))

    def commit(self, version: int) -> Commit:
        """The files that a snapshot added and removed; where it puts the table back, what makes the
        difference to the one before.
        """
        from pyiceberg.manifest import ManifestEntryStatus

        snapshot, operation = self.snapshots[version].snapshot, self._operation(version)
        if self.snapshots[version].back:
            before, now = (
                {each.path: each for each in self._live(place)} for place in (version - 1, version)
            )
            added, gone = (
                [of[path] for path in of if path not in other] for of, other in ((now, before), (before, now))
            )
        else:
            own = [
                each for each in self._entries(snapshot, own=True) if each.snapshot_id == snapshot.snapshot_id
            ]
            added = [_added(each) for each in own if each.status == ManifestEntryStatus.ADDED]
            gone = [_added(each) for each in own if each.status == ManifestEntryStatus.DELETED]
        if operation == "replace":
            return Commit(
                version,
                operation,
                added,
                frozenset(each.path for each in gone),
                frozenset(),
                data_removed=False,
            )
        removed, new = (frozenset(each.path for each in some) for some in (gone, added))
        changed = bool(gone) or self.snapshots[version].back or any(each.marked for each in added)
        return Commit(version, operation, added, removed, new, data_removed=changed, gone=gone)

    def held(self, source: TableSource, version: int) -> list[Added]:  # noqa: ARG002 - as for every log
        return self._live(version) if version >= 0 else []

    def in_full(self, source: TableSource) -> TableSource:
        check_fields(source, self.table.metadata)
        return with_columns_of(source, self.table.metadata)

    def check(self, source: TableSource, added: Sequence[Added]) -> None:
        """Refuse deleted rows, files that are no Parquet, and places that cannot be read."""
        for each in added:
            address = self.address(each)
            if each.marked:
                raise SourceError(
                    f"{source.path}: rows are marked as deleted (by {address}), which {source.call} cannot"
                    " read; read the table with sources.spark(...), or rewrite it (rewrite_data_files) and"
                    " let it be changed by write.delete.mode=copy-on-write"
                )
            if each.format != "PARQUET":
                raise SourceError(
                    f"{source.path}: {address} is a file of {each.format}; read the table with"
                    " sources.spark(...)"
                )
            if not address.startswith("/") and not is_object_store(address):
                raise SourceError(
                    f"{source.path}: {address} lies where Muntin cannot read; read the table with"
                    " sources.spark(...)"
                )

    def _operation(self, version: int) -> str:
        if self.snapshots[version].back:
            return "put back"
        summary = self.snapshots[version].snapshot.summary
        return summary.operation.value if summary else ""

    def _live(self, version: int) -> list[Added]:
        """The files of a snapshot, older ones first."""
        entries = self._entries(self.snapshots[version].snapshot)
        return [_added(each) for each in sorted(entries, key=lambda entry: entry.sequence_number or 0)]

    def _entries(self, snapshot: Snapshot, *, own: bool = False) -> Iterator[ManifestEntry]:
        """The files that a snapshot names, by older manifests first.

        `own`: of its own manifests, removed files too.
        """
        if not snapshot.manifest_list:
            raise SourceError(
                f"{self.root}: snapshot {snapshot.snapshot_id} has no list of manifests, as old writers of"
                " the first format left it out; read the table with sources.spark(...)"
            )
        try:
            for manifest in reversed(snapshot.manifests(self.table.io)):
                if not own or manifest.added_snapshot_id == snapshot.snapshot_id:
                    yield from manifest.fetch_manifest_entry(self.table.io, discard_deleted=not own)
        except (OSError, ValueError) as wrong:
            raise SourceError(
                f"{self.root}: what snapshot {snapshot.snapshot_id} says of its files cannot be read"
                f" ({wrong}); bring it back, or let the catalog's properties say how its store is reached"
            ) from wrong


def _added(entry: ManifestEntry) -> Added:
    from pyiceberg.manifest import DataFileContent

    file = entry.data_file
    marked = file.content != DataFileContent.DATA
    return Added(file.file_path, file.file_size_in_bytes, marked=marked, format=file.file_format.value)
