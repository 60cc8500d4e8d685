"""Vacuum: remove files that no reader can see any more. Files of a table's present version are never touched."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable

from pipelines.definition.durations import UNITS
from pipelines.jobs.reports_table import utc_now
from pipelines.jobs.staging_folders import staged_entries
from pipelines.jobs.state_folders import bind_existing, stagings, state_folders
from pipelines.jobs.window_tables import published, windows_of
from pipelines.store.delta import DeltaStore
from pipelines.store.paths import NOTES
from pipelines.store.state import WINDOWS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from pipelines.definition.pipeline import Pipeline

_PARTIAL = re.compile(r"\..+\.[0-9a-f]+\.partial")


@dataclass(frozen=True, slots=True)
class Removed:
    """Files removed from one place.

    `what`: replaced files, files of no commit, outlived notes, abandoned staging, half-written files, or a superseded state.
    """

    what: str
    place: str
    files: int
    bytes: int


def vacuum(
    root: str | Path, *, older_than_us: int, pipeline: Pipeline | None = None, dry_run: bool = False, now: datetime | None = None
) -> list[Removed]:
    """Remove replaced files, abandoned stagings and half-written files that are older than a duration.

    Args:
        root: the folder above the states.
        older_than_us: microseconds; must be longer than any run and any reader takes.
        pipeline: the pipeline whose states are swept, under every definition it had; None: every state below the root.
        dry_run: only tell what would be removed.
        now: the present; None: the clock tells.

    Raises:
        StateError: there is no state.
    """
    oldest = (now or utc_now()) - timedelta(microseconds=older_than_us)
    homes = state_folders(root)
    if pipeline is not None:
        home = Path(bind_existing(pipeline, root).folder).parent
        homes = [folder for folder in homes if folder.parent.absolute() == home]
    windows = sorted({folder.parent / WINDOWS for folder in homes})
    swept = [_swept(Path(root), folder, older_than_us, oldest, dry_run=dry_run) for folder in (*windows, *homes)]
    return [removed for of_folder in swept for removed in of_folder if removed.files]


def _swept(root: Path, folder: Path, older_than_us: int, oldest: datetime, *, dry_run: bool) -> Iterator[Removed]:
    """Sweep a state, or the folder of the tables that readers know."""
    for log in sorted(folder.rglob("_delta_log")):
        yield _replaced(root, log.parent, older_than_us, dry_run=dry_run)
        yield _unnamed(root, log.parent, oldest, dry_run=dry_run)
    if folder.name != WINDOWS:
        yield _outlived(root, folder, oldest, dry_run=dry_run)
        yield from _abandoned(root, folder, oldest, dry_run=dry_run)
    yield _half_written(root, folder, oldest, dry_run=dry_run)


def _replaced(root: Path, table: Path, older_than_us: int, *, dry_run: bool) -> Removed:
    """Remove the files that a commit took out of the table, by Delta's own vacuum. Files that the log does not know stay."""
    hours = -(-older_than_us // UNITS["h"])
    opened = DeltaTable(str(table))
    names = opened.vacuum(hours, dry_run=True, enforce_retention_duration=False)
    sizes = [path.stat().st_size for name in names if (path := table / name).is_file()]
    if sizes and not dry_run:
        opened.vacuum(hours, dry_run=False, enforce_retention_duration=False)
    return Removed("replaced files", str(table.relative_to(root)), len(sizes), sum(sizes))


def _unnamed(root: Path, table: Path, oldest: datetime, *, dry_run: bool) -> Removed:
    """Remove the files of a table that no commit names: of runs that ended before they committed."""
    opened = DeltaTable(str(table))
    removed = opened.vacuum(0, dry_run=True, enforce_retention_duration=False)  # Delta's own vacuum sees to them
    named = {*pa.table(opened.get_add_actions(flatten=True))["path"].to_pylist(), *removed}
    paths = (str(path.relative_to(table)) for path in table.rglob("*.parquet"))
    files = [table / path for path in paths if _of_table(path) and path not in named]
    return _old(root, table, "files of no commit", files, oldest, dry_run=dry_run)


def _of_table(path: str) -> bool:
    """Whether a path below a table is that of a data file."""
    return not path.startswith("_delta_log") and not Path(path).name.startswith(".")


def _old(root: Path, place: Path, what: str, files: list[Path], oldest: datetime, *, dry_run: bool) -> Removed:
    """Remove those of some files that are older than an instant."""
    old = [(path, stat.st_size) for path in files if (stat := path.stat()).st_mtime < oldest.timestamp()]
    for path, _ in [] if dry_run else old:
        path.unlink(missing_ok=True)
    return Removed(what, str(place.relative_to(root)), len(old), sum(size for _, size in old))


def _outlived(root: Path, folder: Path, oldest: datetime, *, dry_run: bool) -> Removed:
    """Remove the notes that no ledger names any more, nor one that is staged."""
    store = DeltaStore(str(folder))
    ledgers = [published(store, name).ledger for name in windows_of(store)]
    entries = [ledger.entries for ledger in ledgers if ledger] + staged_entries(folder)
    named = {path for each in entries for at in each.noted().tolist() for path in each.note_of(at) or ()}
    notes = [path for path in folder.glob(f"{NOTES}/**/*.parquet") if str(path.relative_to(folder / NOTES)) not in named]
    return _old(root, folder / NOTES, "outlived notes", notes, oldest, dry_run=dry_run)


def _abandoned(root: Path, folder: Path, oldest: datetime, *, dry_run: bool) -> Iterator[Removed]:
    """Remove the staged folders of runs that ended long ago."""
    for staged in stagings(folder):
        if staged.written_at < oldest:
            place = folder / staged.folder
            if not dry_run:
                shutil.rmtree(place, ignore_errors=True)
            yield Removed("abandoned staging", str(place.relative_to(root)), staged.files, staged.bytes)


def _half_written(root: Path, folder: Path, oldest: datetime, *, dry_run: bool) -> Removed:
    """Remove the files that killed runs were writing."""
    partial = [path for path in folder.rglob(".*.partial") if _PARTIAL.fullmatch(path.name)]
    return _old(root, folder, "half-written files", partial, oldest, dry_run=dry_run)
