"""A mirror, reached: how far it is, and the step to where the windows are.

One commit to the catalog is a step: all of it or nothing.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING

from muntin.extensions.iceberg.catalogs import catalog_of
from muntin.extensions.iceberg.mirrors.columns import documented, follow_columns, of_other_fields
from muntin.extensions.iceberg.mirrors.found_tables import (
    MARK,
    PLACE,
    TABLE,
    VERSION,
    loaded,
    newest_own,
    not_ours,
    own_folder,
    problems_of,
    property_of,
    remove_outlived,
    version_of,
)
from muntin.jobs.published.mirrors import METADATA
from muntin.sinks.delivery import Position
from muntin.sinks.errors import BlockedError, MovedError, SinkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot
    from pyiceberg.table.update import TableUpdate

    from muntin.extensions.iceberg.mirrors.declaration import IcebergSink
    from muntin.sinks.delivery import Reach

MOST_SNAPSHOTS = 128
"""So many snapshots are kept: a commit writes them all."""
_SETTINGS = {
    "gc.enabled": "false",  # the files are Delta's: no engine may remove them
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "8",
}


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a table of windows: its number, the name of its commit ("": not known), the paths of its
    files with windows.
    """

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
        before: the paths that it had at the version that the mirror has; None: they are not known, and the
            mirror is asked.
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
        # it warns of each column that has no range, as floats with NaN
        logging.getLogger("pyiceberg.io.pyarrow").setLevel(logging.ERROR)
        yield Mirror(catalog, sink, pipeline)


def place_of(sink: IcebergSink, folder: str) -> str:
    """The folder of a mirror's own files. `folder`: of the table of windows."""
    return f"{folder}/{METADATA}/{own_folder(sink.catalog, sink.table)}"


@dataclass
class Mirror:
    """A table of Iceberg in its catalog."""

    catalog: Catalog
    sink: IcebergSink
    pipeline: str
    _table: Table | None = field(default=None, init=False)
    _lost: bool = field(default=False, init=False)
    _unread: set[int] = field(default_factory=set, init=False)

    def problems(self, folder: str, *, deep: bool) -> list[tuple[str, str]]:
        """The lost and damaged files of its own, each with what is wrong; nothing is changed.

        Arguments: as of `position`.
        """
        return problems_of(self.catalog, self.sink.table, place_of(self.sink, folder), deep=deep)

    def leftovers(self, folder: str) -> list[str]:
        """Its damaged files that no snapshot names; of a mirror whose snapshots are whole."""
        from muntin.extensions.iceberg.mirrors.own_files import torn_leftovers

        table = self.catalog.load_table(self.sink.table)
        return torn_leftovers(place_of(self.sink, folder), table.snapshots(), table.io)

    def position(self, folder: str, *, deep: bool = False) -> Position | None:
        """How far it is; None: there is no table, or it has not been filled.

        Args:
            folder: the address of the table of windows. Where the mirror's own files were lost with it, it is
                made again; a description that is damaged makes way for the one before.
            deep: whether all snapshots are looked at; else the newest, which the next is made from.
        """
        from muntin.extensions.iceberg.mirrors.own_files import damaged_files

        self._unread = set()
        self._table, self._lost = loaded(self.catalog, self.sink.table, place_of(self.sink, folder))
        mine = newest_own(self._table) if self._table else None
        if self._table is None or mine is None:
            return None
        lost = "" if mine == self._table.current_snapshot() else "another program wrote to it"
        if deep or next(damaged_files([mine], self._table.io, deep=False), None):
            self._unread = {
                each.snapshot_id
                for _, _, each in damaged_files(self._table.snapshots(), self._table.io, deep=deep)
            }
        if mine.snapshot_id in self._unread:
            lost = "files of its own were lost or damaged"
        return Position(
            self._table.properties.get(TABLE, ""),
            version_of(mine),
            property_of(mine, MARK),
            str(self._table.metadata.table_uuid),
            lost=lost,
        )

    def differs(self, folder: str, paths: set[str] | None, schema: pa.Schema | None) -> list[tuple[str, str]]:
        """The description, if its newest snapshot has other files or other columns than the windows; after
        `position`.

        Args:
            folder: of the table of windows.
            paths: of its files at that version; None: they are not known any more.
            schema: its columns at that version; None: they are not known.
        """
        from muntin.extensions.iceberg.mirrors.snapshots import paths_of

        table = self._table
        if table is None:
            return []
        if paths is not None and paths_of(newest_own(table), table.io) != {
            f"{folder}/{path}" for path in paths
        }:
            return [(table.metadata_location, "names other files than the windows have")]
        other = schema is not None and follow_columns(table.metadata, schema)
        return [(table.metadata_location, "has other columns than the windows")] if other else []

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
            commit = self.catalog.commit_table(table, alone, tuple(self._updates(table, mirrored, at)))
        except CommitStateUnknownException:
            raise SinkError(
                f"catalog {self.sink.catalog} gave no answer to a commit; the next run looks whether it"
                " has it"
            ) from None
        except CommitFailedException:
            raise MovedError from None
        remove_outlived(table, commit.metadata)
        last = mirrored.versions[-1]
        return Position(mirrored.identity, last.number, last.mark, str(metadata.table_uuid))

    def _own(self, mirrored: Mirrored, *, anew: bool) -> Table:
        """The table, made if it is missing."""
        if self._table is not None and not anew:
            if why := not_ours(self._table, mirrored.identity):
                raise BlockedError(
                    f"{self.sink.name} {why}; drop it, name another table, or let it be replaced: muntin"
                    " status --sinks FILE --send --anew"
                )
            return self._table
        if self._table is not None or self._lost:
            self.catalog.drop_table(self.sink.table)  # of its files none is removed
        from pyiceberg.exceptions import TableAlreadyExistsError

        self._unread = set()
        name = self.sink.table.rpartition(".")[0]
        try:
            self.catalog.create_namespace_if_not_exists(name)
        except Exception:  # of two runs that make it at once, the second gets an error of the catalog's own
            if not self.catalog.namespace_exists(name):
                raise
        properties = self._properties(mirrored) | {"comment": mirrored.description}
        try:
            return self.catalog.create_table(
                self.sink.table, documented(mirrored.schema), mirrored.folder, properties=properties
            )
        except TableAlreadyExistsError:
            raise MovedError from None

    def _properties(self, mirrored: Mirrored) -> dict[str, str]:
        names = {
            TABLE: mirrored.identity,
            "muntin.pipeline": self.pipeline,
            "muntin.window": str(self.sink.window),
        }
        return {**_SETTINGS, **names, PLACE: place_of(self.sink, mirrored.folder)}

    def _updates(self, table: Table, mirrored: Mirrored, at: datetime) -> Iterator[TableUpdate]:
        from pyiceberg.table.update import (
            AddSnapshotUpdate,
            SetPropertiesUpdate,
            SetSnapshotRefUpdate,
            update_table_metadata,
        )

        from muntin.extensions.iceberg.mirrors.snapshots import Snapshots, paths_of

        of_table, properties = follow_columns(table.metadata, mirrored.schema), self._properties(mirrored)
        if any(table.properties.get(name) != text for name, text in properties.items()):
            of_table.append(SetPropertiesUpdate(updates=properties))
        yield from of_table
        metadata = update_table_metadata(table.metadata, tuple(of_table)) if of_table else table.metadata
        newest = newest_own(table)
        mine = None if newest is None or newest.snapshot_id in self._unread else newest
        begins_anew = mine is None or mirrored.before is None
        have = (
            paths_of(mine, table.io)
            if begins_anew
            else {f"{mirrored.folder}/{path}" for path in mirrored.before or ()}
        )
        snapshots, new_snapshots = (
            Snapshots(metadata, table.io, place_of(self.sink, mirrored.folder), mine),
            [],
        )
        for version in mirrored.versions:
            paths = {f"{mirrored.folder}/{path}" for path in version.paths}
            notes = {VERSION: str(version.number), MARK: version.mark}
            try:
                with redirect_stdout(StringIO()):  # PyIceberg prints a table of columns that differ
                    new_snapshots.append(snapshots.next(paths - have, have - paths, notes))
            # of a definition before, with columns that the windows lack now: it is passed by
            except ValueError:
                if version is mirrored.versions[-1]:
                    raise
            else:
                have = paths
        yield from (AddSnapshotUpdate(snapshot=each) for each in new_snapshots)
        yield SetSnapshotRefUpdate(ref_name="main", type="branch", snapshot_id=new_snapshots[-1].snapshot_id)
        moved = table.properties.get(PLACE) != properties[PLACE]
        unread = (
            {each.snapshot_id for each in table.snapshots()}
            if moved
            else of_other_fields(table.metadata, metadata)
        )
        yield from self._expired(table, new_snapshots, at, unread)

    def _expired(
        self, table: Table, new_snapshots: Sequence[Snapshot], at: datetime, unread: set[int]
    ) -> Iterator[TableUpdate]:
        """The snapshots to remove: snapshots that were replaced too long ago, and snapshots that cannot be
        read as they were any more.
        """
        from pyiceberg.table.update import RemoveSnapshotsUpdate

        refs = {name: ref.snapshot_id for name, ref in table.metadata.refs.items() if name != "main"}
        if lost := sorted(name for name, number in refs.items() if number in unread):
            raise BlockedError(
                f"{self.sink.name} has {', '.join(lost)}, which could not be read as it was any more: columns"
                " have other types now, or files lie elsewhere; remove the branch or tag, or name another"
                " table"
            )
        ascending = [*sorted(table.snapshots(), key=lambda each: each.sequence_number or 0), *new_snapshots]
        oldest_ms = at.timestamp() * 1000 - self.sink.keep_us / 1000
        old = [each for each, after in pairwise(ascending) if after.timestamp_ms < oldest_ms]
        gone = {*(each.snapshot_id for each in (*old, *ascending[:-MOST_SNAPSHOTS])), *self._unread} - {
            *refs.values()
        } | unread
        if gone:
            yield RemoveSnapshotsUpdate(snapshot_ids=sorted(gone))
