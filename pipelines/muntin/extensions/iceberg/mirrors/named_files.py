"""The files that a mirror names: of its live snapshots, and its own."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from muntin.extensions.iceberg.catalogs import catalog_of
from muntin.extensions.iceberg.mirrors.declaration import IcebergSink
from muntin.sinks.errors import BlockedError, SinkError

if TYPE_CHECKING:
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
