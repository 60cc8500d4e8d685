"""A mirror, reached: how far it is, and the step to where the windows are. One commit to the catalog is a step: all of it or nothing."""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from muntin.files.catalogs import catalog_of
from muntin.sinks.delivery import Position
from muntin.sinks.errors import BlockedError, MovedError, SinkError
from muntin.sinks.mirrors.columns import documented, follow_columns, of_other_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot
    from pyiceberg.table.update import TableUpdate

    from muntin.sinks.delivery import Reach
    from muntin.sinks.mirrors.declaration import IcebergSink

MOST_SNAPSHOTS = 128
"""So many snapshots are kept: a commit writes them all."""
METADATA = "_iceberg"
"""The folder of a mirror's own files, below the table of windows: readers of Delta pass it by."""
_TABLE, _VERSION, _MARK, _PLACE = "muntin.table", "muntin.version", "muntin.mark", "write.metadata.path"
_SETTINGS = {
    "gc.enabled": "false",  # the files are Delta's: no engine may remove them
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "8",
}


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a table of windows: its number, the name of its commit ("": not known), the paths of its files with windows."""

    number: int
    mark: str
    paths: set[str]


@dataclass(frozen=True, slots=True)
class Mirrored:
    """A table of windows that a mirror follows.

    Attributes:
        identity: of the table.
        folder: its address.
        schema: its columns; a comment is in the metadata of its field.
        description: what it says of itself.
        before: the paths that it had at the version that the mirror has; None: they are not known, and the mirror is asked.
        versions: the versions that the mirror lacks, ascending; the last is the present version.
    """

    identity: str
    folder: str
    schema: pa.Schema
    description: str
    before: set[str] | None
    versions: Sequence[Version]


@contextmanager
def opened(sink: IcebergSink, pipeline: str, reach: Reach) -> Iterator[Mirror]:
    """The mirror of a sink, in its catalog.

    Raises:
        SinkError: the catalog does not answer, or refuses.
        MissingPackageError: pyiceberg is not installed.
    """
    with catalog_of(sink.catalog, reach.connection, down=SinkError, refused=BlockedError) as catalog:
        logging.getLogger("pyiceberg.io.pyarrow").setLevel(logging.ERROR)  # it warns of each column that has no range, as floats with NaN
        yield Mirror(catalog, sink, pipeline)


@dataclass
class Mirror:
    """A table of Iceberg in its catalog."""

    catalog: Catalog
    sink: IcebergSink
    pipeline: str
    _table: Table | None = field(default=None, init=False)
    _lost: bool = field(default=False, init=False)

    def position(self, folder: str) -> Position | None:
        """How far it is; None: there is no table, or nobody has filled it.

        Args:
            folder: the address of the table of windows. Where the mirror's own files were lost with it, it is made again.
        """
        from pyiceberg.exceptions import NoSuchTableError

        self._table, self._lost = None, False
        try:
            self._table = self.catalog.load_table(self.sink.table)
        except NoSuchTableError:
            return None
        except FileNotFoundError as wrong:
            if self._place(folder).rpartition("://")[2] not in str(wrong):
                raise
            self._lost = True
            return None
        snapshot = self._table.current_snapshot()
        mine = _newest_own(self._table)
        if mine is None:
            return None
        lost = "" if mine == snapshot else "another program wrote to it"
        return Position(
            self._table.properties.get(_TABLE, ""), _version(mine), _property(mine, _MARK), str(self._table.metadata.table_uuid), lost=lost
        )

    def follow(self, mirrored: Mirrored, at: datetime, *, anew: bool = False) -> Position:
        """Bring the table to the present version of the windows; where it is then.

        Args:
            mirrored: what the windows are.
            at: the present, by which old snapshots go.
            anew: whether the table is dropped and made again, whoever made it.

        Raises:
            MovedError: another run came first.
            BlockedError: the table holds what Muntin did not write.
        """
        from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException
        from pyiceberg.table.update import AssertCurrentSchemaId, AssertRefSnapshotId, AssertTableUUID

        table = self._own(mirrored, anew=anew)
        metadata = table.metadata
        alone = (
            AssertTableUUID(uuid=metadata.table_uuid),
            AssertRefSnapshotId(ref="main", snapshot_id=metadata.current_snapshot_id),
            AssertCurrentSchemaId(current_schema_id=metadata.current_schema_id),
        )
        try:
            made = self.catalog.commit_table(table, alone, tuple(self._updates(table, mirrored, at)))
        except CommitStateUnknownException:
            raise SinkError(f"catalog {self.sink.catalog} gave no answer to a commit; the next run looks whether it has it") from None
        except CommitFailedException:
            raise MovedError from None
        _remove_outlived(table, made.metadata)
        last = mirrored.versions[-1]
        return Position(mirrored.identity, last.number, last.mark, str(metadata.table_uuid))

    def _own(self, mirrored: Mirrored, *, anew: bool) -> Table:
        """The table, made if it is missing."""
        if self._table is not None and not anew:
            if why := _not_ours(self._table, mirrored.identity):
                raise BlockedError(
                    f"{self.sink.name} {why}; drop it, name another table, or let it be replaced: muntin sinks FILE --send --anew"
                )
            return self._table
        if self._table is not None or self._lost:
            self.catalog.drop_table(self.sink.table)  # of its files none is removed
        return self._made(mirrored)

    def _made(self, mirrored: Mirrored) -> Table:
        from pyiceberg.exceptions import TableAlreadyExistsError

        self._make_namespace(self.sink.table.rpartition(".")[0])
        properties = self._properties(mirrored) | {"comment": mirrored.description}
        try:
            return self.catalog.create_table(self.sink.table, documented(mirrored.schema), mirrored.folder, properties=properties)
        except TableAlreadyExistsError:
            raise MovedError from None

    def _make_namespace(self, name: str) -> None:
        try:
            self.catalog.create_namespace_if_not_exists(name)
        except Exception:  # of two runs that make it at once, the second gets an error of the catalog's own
            if not self.catalog.namespace_exists(name):
                raise

    def _properties(self, mirrored: Mirrored) -> dict[str, str]:
        """The properties that the table has, and keeps."""
        names = {_TABLE: mirrored.identity, "muntin.pipeline": self.pipeline, "muntin.window": str(self.sink.window)}
        return {**_SETTINGS, **names, _PLACE: self._place(mirrored.folder)}

    def _place(self, folder: str) -> str:
        """The folder of the mirror's own files."""
        return f"{folder}/{METADATA}/{sha256(self.sink.name.encode()).hexdigest()[:12]}"

    def _updates(self, table: Table, mirrored: Mirrored, at: datetime) -> Iterator[TableUpdate]:
        """Updates for everything that the table lacks."""
        from pyiceberg.table.update import AddSnapshotUpdate, SetPropertiesUpdate, SetSnapshotRefUpdate, update_table_metadata

        from muntin.sinks.mirrors.snapshots import Snapshots, paths_of

        of_table, properties = follow_columns(table.metadata, mirrored.schema), self._properties(mirrored)
        if any(table.properties.get(name) != text for name, text in properties.items()):
            of_table.append(SetPropertiesUpdate(updates=properties))
        yield from of_table
        metadata = update_table_metadata(table.metadata, tuple(of_table)) if of_table else table.metadata
        mine = _newest_own(table)
        have = paths_of(mine, table.io) if mirrored.before is None else {f"{mirrored.folder}/{path}" for path in mirrored.before}
        snapshots, made = Snapshots(metadata, table.io, self._place(mirrored.folder), mine), []
        for version in mirrored.versions:
            paths = {f"{mirrored.folder}/{path}" for path in version.paths}
            try:
                made.append(snapshots.next(paths - have, have - paths, {_VERSION: str(version.number), _MARK: version.mark}))
            except ValueError:  # of a definition before, with columns that the windows lack now: it is passed by
                if version is mirrored.versions[-1]:
                    raise
            else:
                have = paths
        yield from (AddSnapshotUpdate(snapshot=each) for each in made)
        yield SetSnapshotRefUpdate(ref_name="main", type="branch", snapshot_id=made[-1].snapshot_id)
        moved = table.properties.get(_PLACE) != properties[_PLACE]
        unread = {each.snapshot_id for each in table.snapshots()} if moved else of_other_fields(table.metadata, metadata)
        yield from self._expired(table, made, at, unread)

    def _expired(self, table: Table, made: Sequence[Snapshot], at: datetime, unread: set[int]) -> Iterator[TableUpdate]:
        """Snapshots go that were replaced too long ago, and those that could not be read as they were any more."""
        from pyiceberg.table.update import RemoveSnapshotsUpdate

        refs = {name: ref.snapshot_id for name, ref in table.metadata.refs.items() if name != "main"}
        if lost := sorted(name for name, number in refs.items() if number in unread):
            raise BlockedError(
                f"{self.sink.name} has {', '.join(lost)}, which could not be read as it was any more: columns have other types "
                f"now, or files lie elsewhere; remove the branch or tag, or name another table"
            )
        ascending = [*sorted(table.snapshots(), key=lambda each: each.sequence_number or 0), *made]
        oldest_ms = at.timestamp() * 1000 - self.sink.keep_us / 1000
        old = [each for each, after in pairwise(ascending) if after.timestamp_ms < oldest_ms]
        gone = {each.snapshot_id for each in (*old, *ascending[:-MOST_SNAPSHOTS])} - {*refs.values()} | unread
        if gone:
            yield RemoveSnapshotsUpdate(snapshot_ids=sorted(gone))


def _remove_outlived(table: Table, now: TableMetadata) -> None:
    """Remove the table's descriptions that nobody names any more; vacuum removes what stays."""
    names = {each.metadata_file for each in now.metadata_log}
    for each in table.metadata.metadata_log:
        if each.metadata_file not in names:
            with suppress(OSError):
                table.io.delete(each.metadata_file)


def _not_ours(table: Table, identity: str) -> str:
    """Why a table is none that these windows filled; "": it is."""
    if _TABLE not in table.properties:
        return "is there, and Muntin did not make it"
    if table.properties[_TABLE] != identity:
        return "was filled from another table of windows: of another root, or made anew since"
    return "" if table.current_snapshot() is None or _newest_own(table) else "has no snapshot that Muntin made"


def _newest_own(table: Table) -> Snapshot | None:
    """The newest snapshot that a publication made."""
    own = [each for each in table.metadata.snapshots if _property(each, _VERSION)]
    return max(own, key=lambda each: each.sequence_number or 0, default=None)


def _version(snapshot: Snapshot) -> int:
    return int(_property(snapshot, _VERSION))


def _property(snapshot: Snapshot, name: str) -> str:
    properties: Mapping[str, Any] = snapshot.summary.additional_properties if snapshot.summary else {}
    return str(properties.get(name, ""))
