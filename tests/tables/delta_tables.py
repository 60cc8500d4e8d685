"""Delta tables whose commits were made when a test says."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from muntin.files.paths import options_of, path_of


def append(root: object, rows: pa.Table, made: datetime, *, by: Sequence[str] | None = None, merge: bool = False) -> int:
    """Add rows to a table, which is made if there is none; the version."""
    there = DeltaTable.is_deltatable(str(root), options_of(str(root)))
    new = {} if there else {"partition_by": list(by or ())}
    schema = {"schema_mode": "merge"} if merge else {}
    write_deltalake(str(root), rows, mode="append", storage_options=options_of(str(root)), **new, **schema)
    return dated(root, made)


def dated(root: object, made: datetime, version: int | None = None) -> int:
    """Let a version, the newest unless said, have been made at an instant; the version."""
    version = DeltaTable(str(root), storage_options=options_of(str(root))).version() if version is None else version
    path = path_of(str(root), "_delta_log", f"{version:020d}.json")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        if "commitInfo" in line:
            line["commitInfo"]["timestamp"] = round(made.timestamp() * 1000)
    path.write_bytes("\n".join(map(json.dumps, lines)).encode() + b"\n")
    return version


def without_log_before(root: Path, version: int) -> None:
    """Clean the log as Delta does behind a checkpoint."""
    DeltaTable(str(root), version=version).create_checkpoint()
    for path in (root / "_delta_log").glob("*.json"):
        if int(path.stem) < version:
            path.unlink()
