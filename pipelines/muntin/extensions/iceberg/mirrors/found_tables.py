"""The table of a mirror in its catalog: loaded, also where the newest description of it is damaged, and what
is wrong with it.

The files that a mirror names: of its live snapshots, and its own.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from muntin.extensions.iceberg.catalogs import catalog_of
from muntin.extensions.iceberg.mirrors.declaration import IcebergSink
from muntin.sinks.errors import BlockedError, SinkError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

    from muntin.sinks.delivery import Reach


def named_files(catalog: str, table: str, reach: Reach) -> set[str]:
    """The addresses of all files that a table of Iceberg names; none where there is no such table.

    Raises:
        SinkError: the catalog does not answer, or refuses.
        MissingPackageError: pyiceberg is not installed.
        OSError: a file of the table's own cannot be read.
    """
    with catalog_of(catalog, reach.connection, down=SinkError, refused=BlockedError) as opened:
        from pyiceberg.exceptions import NoSuchTableError

        try:
            loaded = opened.load_table(table)
        except NoSuchTableError:
            return set()
        try:
            manifests = {
                each.manifest_path: each
                for snapshot in loaded.snapshots()
                for each in snapshot.manifests(loaded.io)
            }
            data = {
                entry.data_file.file_path
                for each in manifests.values()
                for entry in each.fetch_manifest_entry(loaded.io)
            }
        except Exception as wrong:  # whatever a damaged file makes of the reader
            raise OSError(f"a file of the table's own cannot be read ({wrong})") from wrong
        lists = {snapshot.manifest_list for snapshot in loaded.snapshots()}
        return (
            data
            | {*manifests}
            | lists
            | {loaded.metadata_location}
            | {each.metadata_file for each in loaded.metadata.metadata_log}
        )


def own_folder(catalog: str, table: str) -> str:
    """The name of the folder with a mirror's own files, below a table of windows."""
    return sha256(IcebergSink(catalog, table).name.encode()).hexdigest()[:12]


TABLE, VERSION, MARK, PLACE = "muntin.table", "muntin.version", "muntin.mark", "write.metadata.path"


def loaded(catalog: Catalog, name: str, place: str) -> tuple[Table | None, bool]:
    """The table as its newest whole description says, None where there is none; and whether all its
    descriptions are lost.

    `place`: the folder of the mirror's own files.
    """
    from pyiceberg.exceptions import NoSuchTableError

    from muntin.extensions.iceberg.mirrors.own_files import newest_description

    try:
        return catalog.load_table(name), False
    except NoSuchTableError:
        return None, False
    except Exception as wrong:
        newest, damaged = newest_description(place)
        if not damaged and not (
            isinstance(wrong, FileNotFoundError) and place.rpartition("://")[2] in str(wrong)
        ):
            raise
        if newest is None:
            return None, True
        catalog.drop_table(name)  # of its files none is removed
        return catalog.register_table(name, newest), False


def problems_of(catalog: Catalog, name: str, place: str, *, deep: bool) -> list[tuple[str, str]]:
    """The lost and damaged files of a mirror itself, each with what is wrong. Nothing is changed.

    `deep`: whether all snapshots are looked at; else the newest.
    """
    from pyiceberg.exceptions import NoSuchTableError

    from muntin.extensions.iceberg.mirrors.own_files import damaged_files, newest_description

    try:
        table = catalog.load_table(name)
    except NoSuchTableError:
        return []
    except Exception as wrong:
        newest, damaged = newest_description(place)
        if damaged:
            return [(each, "is damaged: it cannot be read") for each in damaged]
        if newest is None or isinstance(wrong, FileNotFoundError):
            return [(place, f"its newest description is gone ({wrong})")]
        raise
    mine = newest_own(table)
    if table.properties.get(PLACE) != place or mine is None:
        return []
    if table.current_snapshot() != mine:
        return [
            (
                table.metadata_location,
                "is not as a publication left it: its newest snapshot is not the present one",
            )
        ]
    problems = damaged_files(table.snapshots() if deep else [mine], table.io, deep=deep)
    return list(dict.fromkeys((path, problem) for path, problem, _ in problems))


def remove_outlived(table: Table, now: TableMetadata) -> None:
    """Remove the table's descriptions that no file names any more; vacuum removes what stays."""
    names = {each.metadata_file for each in now.metadata_log}
    for each in table.metadata.metadata_log:
        if each.metadata_file not in names:
            with suppress(OSError):
                table.io.delete(each.metadata_file)


def not_ours(table: Table, identity: str) -> str:
    """Why a table is none that these windows filled; "": it is."""
    if TABLE not in table.properties:
        return "is there, and Muntin did not make it"
    if table.properties[TABLE] != identity:
        return "was filled from another table of windows: of another root, or made anew since"
    return "" if table.current_snapshot() is None or newest_own(table) else "has no snapshot that Muntin made"


def newest_own(table: Table) -> Snapshot | None:
    """The newest snapshot that a publication made."""
    own = [each for each in table.metadata.snapshots if property_of(each, VERSION)]
    return max(own, key=lambda each: each.sequence_number or 0, default=None)


def version_of(snapshot: Snapshot) -> int:
    """The version of the table of windows that a snapshot mirrors."""
    return int(property_of(snapshot, VERSION))


def property_of(snapshot: Snapshot, name: str) -> str:
    """A property of a snapshot; "" where it has none."""
    properties: Mapping[str, Any] = snapshot.summary.additional_properties if snapshot.summary else {}
    return str(properties.get(name, ""))
