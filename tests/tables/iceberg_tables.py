"""Tables of Iceberg in a catalog on SQLite, whose snapshots were made when a test says."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
from pyiceberg.io.pyarrow import _dataframe_to_data_files
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.table import Table
from pyiceberg.table.update.snapshot import _OverwriteFiles  # the only writer of one snapshot that adds and removes files
from pyiceberg.typedef import Record

from muntin.files.paths import path_of


@dataclass(frozen=True)
class Lake:
    """A catalog with the table shop.orders. `warehouse`: an address in an object store; "" below the folder."""

    folder: Path
    warehouse: str = ""

    @property
    def uri(self) -> str:
        return f"sqlite:///{self.folder}/lake.db"

    def catalog(self) -> Any:
        endpoint = {"s3.endpoint": os.environ["AWS_ENDPOINT_URL"]} if self.warehouse else {}
        return load_catalog("lake", uri=self.uri, warehouse=self.warehouse or str(self.folder / "warehouse"), **endpoint)

    def table(self) -> Any:
        with self.catalog() as catalog:
            return catalog.load_table("shop.orders")

    def make(self, schema: pa.Schema, **properties: str) -> Table:
        with self.catalog() as catalog:
            catalog.create_namespace_if_not_exists("shop")
            return catalog.create_table("shop.orders", schema, properties=properties)

    def append(self, rows: pa.Table, made: datetime) -> int:
        """Add rows to the table, which is made if there is none; the number of the snapshot."""
        with self.catalog() as catalog:
            if not catalog.table_exists("shop.orders"):
                self.make(rows.schema)
        self.table().append(rows)
        return self.dated(made)

    def compact(self, made: datetime) -> int:
        """Put all rows into one file, as rewrite_data_files of Spark does."""
        table = self.table()
        rows = table.scan().to_arrow()
        files = [each.file for each in table.scan().plan_files()]
        self.replace_files(files, rows)
        return self.dated(made, operation="replace")

    def replace_files(self, files: Sequence[Any], rows: pa.Table) -> None:
        """Some files make way for rows, in one snapshot."""
        table = self.table()
        with table.transaction() as change, _overwriting(change) as snapshot:
            for each in files:
                snapshot.delete_data_file(each)
            for each in _dataframe_to_data_files(table_metadata=table.metadata, df=rows, io=table.io) if len(rows) else ():
                snapshot.append_data_file(each)

    def mark_as_deleted(self, made: datetime) -> None:
        """Delete the first row of a file by a delete file, as engines do by merge-on-read. pyiceberg writes none: an append is made one."""
        table = self.table()
        first = next(iter(table.scan().plan_files())).file
        table.append(table.scan().to_arrow().slice(0, 1))
        table = self.table()
        snapshot = table.current_snapshot()
        own, *others = snapshot.manifests(table.io)
        [entry] = own.fetch_manifest_entry(table.io)
        path = entry.data_file.file_path.replace(".parquet", "-deletes.parquet")
        pq.write_table(pa.table({"file_path": [first.file_path], "pos": [0]}), path.removeprefix("file://"))
        told = {"content": DataFileContent.POSITION_DELETES, "file_path": path, "file_format": FileFormat.PARQUET}
        deletes = DataFile.from_args(**told, partition=Record(), record_count=1, file_size_in_bytes=1000)
        output = table.io.new_output(own.manifest_path.replace(".avro", "-deletes.avro"))
        with _DeleteManifests(table.spec(), table.schema(), output, snapshot.snapshot_id, "gzip") as writer:
            writer.add(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=snapshot.snapshot_id, data_file=deletes))
        place = table.io.new_output(snapshot.manifest_list)
        Path(snapshot.manifest_list.removeprefix("file://")).unlink()
        numbers = snapshot.snapshot_id, snapshot.parent_snapshot_id, snapshot.sequence_number
        with write_manifest_list(2, place, *numbers, "gzip") as manifests:
            manifests.add_manifests([writer.to_manifest_file(), *others])
        self.dated(made, operation="delete")

    def dated(self, made: datetime, *, operation: str | None = None) -> int:
        """Let the newest entry of the snapshot log be of an instant, and its snapshot if it was made for it; its number."""
        table, made_ms = self.table(), round(made.timestamp() * 1000)
        path = path_of(re.sub("^file:(//)?", "", table.metadata_location))
        told = json.loads(path.read_bytes())
        newest = told["snapshot-log"][-1]
        for each in told["snapshots"]:
            if each["snapshot-id"] == newest["snapshot-id"] and each["timestamp-ms"] == newest["timestamp-ms"]:
                each["timestamp-ms"] = made_ms
                each["summary"]["operation"] = operation or each["summary"]["operation"]
        for each in told["metadata-log"]:  # Iceberg's own code reads no table whose descriptions are newer than it
            each["timestamp-ms"] = min(each["timestamp-ms"], made_ms)
        newest["timestamp-ms"] = told["last-updated-ms"] = made_ms
        path.write_bytes(json.dumps(told).encode())
        return int(newest["snapshot-id"])


def _overwriting(change: Any) -> _OverwriteFiles:
    return change.update_snapshot().overwrite()


class _DeleteManifests(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}
