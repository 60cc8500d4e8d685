"""Vacuum: remove files that no reader can see any more.

Files of a table's present version are never touched.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa

from muntin.definition.durations import UNITS
from muntin.definition.pipeline import Pipeline
from muntin.errors import MuntinError
from muntin.files.paths import AnyPath, ascending, names_in, path_of, relative, sizes_below
from muntin.jobs.inputs.dimensions.changed_rows import outlived_versions
from muntin.jobs.published.mirrors import METADATA, mirrors_of
from muntin.jobs.published.staged_windows import staged_entries, staged_windows
from muntin.jobs.published.window_tables import published, windows_of
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.state.state_folders import bind_existing, stagings, state_folders
from muntin.registry import extension
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from muntin.sinks.errors import SinkError
from muntin.store.delta import DeltaStore
from muntin.store.disk import refused, remove_whole
from muntin.store.paths import DIMENSIONS, GIVEN, MATERIALISED, NOTES
from muntin.store.seen_tables import open_table
from muntin.store.state import WINDOWS
from muntin.timeline.ledger import Ledger

_log = logging.getLogger("muntin")
Found = tuple["AnyPath", int, float]  # a file, its bytes, and when it was written
_PARTIAL = re.compile(r"\..+\.[0-9a-f]+\.partial")
_HALF_COMMIT = re.compile(r"\d{20}(\.json#\d+|\.[0-9a-f]{32}\.draft)")
"""As deltalake and `write_new` name a commit until it is whole."""
# of the file that says whose a folder is
_DRAFT = re.compile(r"\.+[A-Za-z0-9_][A-Za-z0-9_.-]*\.[0-9a-f]{32}(\.[0-9a-f]+\.partial)?")


@dataclass(frozen=True, slots=True)
class Removed:
    """Files removed from one place.

    `what`: replaced files, files of no commit, outlived files of mirrors, outlived notes, outlived tables,
    abandoned staging, rows of killed runs, outlived versions of dimensions, half-written files, or a
    superseded state.
    """

    what: str
    place: str
    files: int
    bytes: int


def vacuum(
    root: str | AnyPath,
    *,
    older_than_us: int,
    pipeline: Pipeline | None = None,
    dry_run: bool = False,
    now: datetime | None = None,
) -> list[Removed]:
    """Remove replaced files, abandoned stagings and half-written files that are older than a duration.

    `older_than_us` must be longer than any run and any reader takes. The states of `pipeline` are swept,
    under every definition it had; None: every state below the root. `dry_run`: only tell what would be
    removed.
    """
    oldest = (now or utc_now()) - timedelta(microseconds=older_than_us)
    top, homes = path_of(root), state_folders(root)
    if pipeline is not None:
        home = bind_existing(pipeline, root).home
        homes = [folder for folder in homes if folder.parent.absolute() == home]
    windows = sorted({folder.parent / WINDOWS for folder in homes})
    swept = [_swept(top, folder, older_than_us, oldest, dry_run=dry_run) for folder in (*windows, *homes)]
    drafts = _old(top, top, "half-written files", [*_drafts(top)], oldest, dry_run=dry_run)
    return [removed for of_folder in (*swept, [drafts]) for removed in of_folder if removed.files]


def _drafts(root: AnyPath) -> Iterator[Found]:
    """Files that killed first runs left next to the folders of pipelines."""
    for path in (root / name for name in names_in(str(root)) if _DRAFT.fullmatch(name)):
        if path.is_file():
            yield path, path.stat().st_size, path.stat().st_mtime


def _swept(
    root: AnyPath, folder: AnyPath, older_than_us: int, oldest: datetime, *, dry_run: bool
) -> Iterator[Removed]:
    """Sweep a state, or the folder of the live tables."""
    for log in ascending(folder.rglob("_delta_log")):
        mirrors = _Mirrors(log.parent)
        yield _replaced(root, log.parent, mirrors, older_than_us, oldest, dry_run=dry_run)
        yield _unnamed(root, log.parent, mirrors, oldest, dry_run=dry_run)
        own = [file for file in mirrors.own() if not mirrors.names(file[0])]
        yield _old(root, log.parent, "outlived files of mirrors", own, oldest, dry_run=dry_run)
    if folder.name != WINDOWS:
        yield _outlived(root, folder, oldest, dry_run=dry_run)
        yield _outlived_tables(root, folder, oldest, dry_run=dry_run)
        yield _old(
            root,
            folder / MATERIALISED,
            "rows of killed runs",
            sizes_below(folder / MATERIALISED),
            oldest,
            dry_run=dry_run,
        )
        outlived = {*outlived_versions(folder / DIMENSIONS)}
        versions = [file for file in sizes_below(folder / DIMENSIONS) if file[0].name in outlived]
        yield _old(
            root, folder / DIMENSIONS, "outlived versions of dimensions", versions, oldest, dry_run=dry_run
        )
        for staged in stagings(folder):
            if staged.written_at < oldest:
                place = folder / staged.folder
                if not dry_run:
                    remove_whole(place)
                yield Removed("abandoned staging", relative(place, root), staged.files, staged.bytes)
    yield _half_written(root, folder, oldest, dry_run=dry_run)


def _replaced(
    root: AnyPath, table: AnyPath, mirrors: _Mirrors, older_than_us: int, oldest: datetime, *, dry_run: bool
) -> Removed:
    """Remove the files that a commit took out of the table, unless a mirror names them. Files that the log
    does not know stay.

    Delta's own vacuum only tells which: it goes by the time of that commit alone. A run that finds the same
    content again makes the file young, and is about to commit it.
    """
    hours = -(-older_than_us // UNITS["h"])
    names = {*open_table(table).vacuum(hours, dry_run=True, enforce_retention_duration=False)}
    candidates = [file for file in sizes_below(table) if relative(file[0], table) in names] if names else []
    files = [file for file in candidates if not mirrors.names(file[0])]
    return _old(root, table, "replaced files", files, oldest, dry_run=dry_run)


def _unnamed(root: AnyPath, table: AnyPath, mirrors: _Mirrors, oldest: datetime, *, dry_run: bool) -> Removed:
    """Remove the files of a table that no commit names: of runs that ended before they committed."""
    opened = open_table(table)
    # Delta's own vacuum sees to them
    removed = opened.vacuum(0, dry_run=True, enforce_retention_duration=False)
    named = {*pa.table(opened.get_add_actions(flatten=True))["path"].to_pylist(), *removed}
    paths_and_files = (
        (relative(file[0], table), file) for file in sizes_below(table) if file[0].suffix == ".parquet"
    )
    files = [
        file
        for path, file in paths_and_files
        if _of_table(path) and path not in named and not mirrors.names(file[0])
    ]
    return _old(root, table, "files of no commit", files, oldest, dry_run=dry_run)


def _of_table(path: str) -> bool:
    """Whether a path below a table is that of a data file."""
    return not path.startswith("_delta_log") and not path_of(path).name.startswith(".")


def _old(
    root: AnyPath, place: AnyPath, what: str, files: list[Found], oldest: datetime, *, dry_run: bool
) -> Removed:
    """Remove the files that are older than an instant."""
    before_s = oldest.timestamp()
    old = [
        (path, size)
        for path, size, written in files
        if written < before_s and (dry_run or _removed(path, before_s))
    ]
    return Removed(what, relative(place, root), len(old), sum(size for _, size in old))


def _removed(path: AnyPath, before_s: float) -> bool:
    """Remove a file, unless a run made it young since it was listed."""
    try:
        if path.stat().st_mtime >= before_s:
            return False
        path.unlink(missing_ok=True)
    except FileNotFoundError:
        return False
    except OSError as wrong:
        raise refused(str(path), wrong) from wrong
    return True


def _outlived(root: AnyPath, folder: AnyPath, oldest: datetime, *, dry_run: bool) -> Removed:
    """Remove the notes that neither a published ledger nor a staged ledger names."""
    entries = [ledger.entries for ledger in _ledgers(folder)] + staged_entries(folder)
    named = {path for each in entries for at in each.noted().tolist() for path in each.note_of(at) or ()}
    note_files = (file for file in sizes_below(folder / NOTES) if file[0].suffix == ".parquet")
    notes = [file for file in note_files if relative(file[0], folder / NOTES) not in named]
    return _old(root, folder / NOTES, "outlived notes", notes, oldest, dry_run=dry_run)


def _outlived_tables(root: AnyPath, folder: AnyPath, oldest: datetime, *, dry_run: bool) -> Removed:
    """Remove the copies of tables of spans by which no window is published or staged."""
    named = {ledger.given for ledger in _ledgers(folder)} | {
        window.given for window in staged_windows(folder)
    }
    files = [
        file
        for file in sizes_below(folder / GIVEN)
        if file[0].suffix == ".parquet" and file[0].name not in named
    ]
    return _old(root, folder / GIVEN, "outlived tables", files, oldest, dry_run=dry_run)


def _ledgers(folder: AnyPath) -> list[Ledger]:
    """The published ledgers of a state."""
    store = DeltaStore(folder)
    return [ledger for name in windows_of(store) if (ledger := published(store, name).ledger)]


def _half_written(root: AnyPath, folder: AnyPath, oldest: datetime, *, dry_run: bool) -> Removed:
    """Remove the files that killed runs were writing."""
    partial = [
        file
        for file in sizes_below(folder)
        if _PARTIAL.fullmatch(file[0].name) or _HALF_COMMIT.fullmatch(file[0].name)
    ]
    return _old(root, folder, "half-written files", partial, oldest, dry_run=dry_run)


class _Mirrors:
    """The mirrors of a table of windows. Where a mirror does not answer, each file may be named by it."""

    def __init__(self, table: AnyPath) -> None:
        self._table, self._named, self._answered = table, set[str](), True
        own = {relative(path, table / METADATA).partition("/")[0] for path, *_ in self.own()}
        name = "that no note tells of"
        try:
            if noted := mirrors_of(table):
                mirrors = extension("mirrors", "iceberg")
            self._answered = own <= {mirrors.own_folder(*each) for each in noted}
            for catalog, name in noted:
                self._named |= mirrors.named_files(catalog, name, Reach(of_environment))
        except (SinkError, MuntinError, OSError) as wrong:
            self._answered = False
            _log.warning("%s: no file is removed, as its mirror %s may name it: %s", table, name, wrong)

    def names(self, path: AnyPath) -> bool:
        """Whether a mirror names a file, or may name it."""
        return not self._answered or str(path) in self._named

    def own(self) -> Sequence[tuple[AnyPath, int, float]]:
        """The files of mirrors themselves, as `sizes_below` has them."""
        return sizes_below(self._table / METADATA)
