"""The tables that a process has seen, so that a process which makes many runs reads no log twice.

The end of a table's log: two files show whether a snapshot is still the newest.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from muntin.errors import StateError
from muntin.files.object_stores import refusal
from muntin.files.paths import AnyPath, options_of, table_address
from muntin.files.weighted_cache import WeightedCache
from muntin.store.log_check import problems_of_end
from muntin.store.store import Change, File, Snapshot

CommitFile = tuple[int | str, int, int]


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The commit that was the last one of a Delta log
    (https://github.com/delta-io/delta/blob/master/PROTOCOL.md#delta-log-entries).

    Attributes:
        path: of the commit.
        after: of the commit that would follow: versions have no holes.
        file: the commit's file as it was; None if there was none, as after a clean-up of the log.
    """

    path: AnyPath
    after: AnyPath
    file: CommitFile | None

    @staticmethod
    def of(table: AnyPath, version: int) -> LogEnd:
        """The end of a table's log at a version."""
        path, after = (table / "_delta_log" / f"{number:020d}.json" for number in (version, version + 1))
        return LogEnd(path, after, _file(path))

    def is_still_the_end(self) -> bool:
        """Whether the commit is there, the same, and no commit follows. False if in doubt."""
        return self.is_there() and not self.after.is_file()

    def is_there(self) -> bool:
        """Whether the commit is there, and the same. False if in doubt."""
        return self.file is not None and _file(self.path) == self.file


def _file(path: AnyPath) -> CommitFile | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Known:
    """A table as it was last seen: the end of its log, its snapshot, and the table as deltalake read it,
    which may be older.
    """

    end: LogEnd
    snapshot: Snapshot
    opened: DeltaTable


_KEPT = threading.local()  # a table of deltalake must not be changed by two threads at once
_UNKNOWN = re.compile(r"Unsupported.*|.*not yet supported by the deltalake.*")


# of these, files are read as they are
_FEATURES = {"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "appendOnly", "invariants"}
_COLUMN_MAPPING = 2  # the version of readers that came with it
_MOST = 200_000  # files
_TABLE = 50  # a table takes as much memory as so many files


def tables() -> WeightedCache[AnyPath, Known]:
    """The tables that this thread has seen, by path: a process that makes many runs reads no log twice."""
    if not hasattr(_KEPT, "tables"):
        _KEPT.tables = WeightedCache(_MOST, lambda table: len(table.snapshot.files) + _TABLE)
    return _KEPT.tables  # type: ignore[no-any-return]


def remember_committed(path: AnyPath, base: Snapshot, change: Change, opened: DeltaTable) -> None:
    """Remember the table behind a commit, if it is the next one after `base` and the last: then what it holds
    is known without reading.
    """
    end = LogEnd.of(path, base.version + 1)
    if end.is_still_the_end():
        gone = {file.path for file in change.removes}
        files = sorted(
            [*(file for file in base.files if file.path not in gone), *change.adds],
            key=lambda file: file.path,
        )
        tables().keep(path, Known(end, replace(base, version=base.version + 1, files=tuple(files)), opened))


def seen_at(path: AnyPath, base: Snapshot) -> Known | None:
    """The table of a snapshot, if the last commit of the snapshot is there still: then commits follow it
    without a hole.
    """
    seen = tables().get(path)
    return seen if seen and seen.snapshot is base and seen.end.is_there() else None


def table_at(path: AnyPath, base: Snapshot) -> DeltaTable:
    """The table at the version of a snapshot."""
    seen = seen_at(path, base)
    if seen and seen.end.is_still_the_end():
        if seen.opened.version() != base.version:
            seen.opened.update_incremental()
        if seen.opened.version() == base.version:
            return seen.opened
    return open_table(path, base.version)


def open_table(path: AnyPath, version: int | None = None) -> DeltaTable:
    """A table as deltalake has it. `version`: None: the newest."""
    try:
        return DeltaTable(table_address(str(path)), version=version, storage_options=options_of(str(path)))
    except (DeltaError, OSError) as wrong:
        if unreached := refusal(str(path), str(wrong)):
            raise unreached from None
        raise


def newest(seen: Known | None) -> DeltaTable | None:
    """A known table brought up to date; None where another table took its place, or its
    log was cleaned up.
    """
    if seen is None or not seen.end.is_there():
        return None
    try:
        seen.opened.update_incremental()
    except DeltaError:
        return None
    return seen.opened if seen.opened.version() >= seen.snapshot.version else None


def opened_at(path: AnyPath) -> DeltaTable | None:
    """The table at a path; None if there is none."""
    try:
        return open_table(path)
    except TableNotFoundError:
        return None
    except (DeltaError, OSError) as wrong:
        if match := _UNKNOWN.search(str(wrong)):
            raise _newer(path, f"has a Delta feature that deltalake does not know ({match[0]})") from wrong
        raise _unreadable(path, str(wrong).partition("\n")[0]) from wrong


def check_opened(path: AnyPath, opened: DeltaTable) -> None:
    """Check that all files that a table was opened from are whole, and that no feature changes how its own
    files are to be read.
    """
    for bad, problem in problems_of_end(path, opened.version()).items():
        raise _unreadable(path, f"{bad.name} {problem}")
    protocol = opened.protocol()
    more = {*(protocol.reader_features or ())} - _FEATURES if protocol.min_reader_version != 1 else set()
    if more or protocol.min_reader_version == _COLUMN_MAPPING:
        raise _newer(path, f"has the Delta feature {', '.join(sorted(more)) or 'columnMapping'}")


def _newer(path: AnyPath, problem: str) -> StateError:
    return StateError(
        f"{path} {problem}: another engine gave it that. Nothing is damaged, and nothing was changed: it"
        " needs a newer Muntin or deltalake, or take the feature off with the engine that set it. muntin"
        " doctor FILE asks again"
    )


def _unreadable(path: AnyPath, problem: str) -> StateError:
    return StateError(
        f"the log of {path} cannot be read ({problem}); nothing was changed. "
        "muntin doctor FILE says what is damaged, muntin doctor --mend FILE mends it"
    )


def listed(opened: DeltaTable) -> Snapshot:
    """The files of an opened table."""
    actions = pa.table(opened.get_add_actions(flatten=True)).select(["path", "size_bytes", "num_records"])
    rows = zip(*(column.to_pylist() for column in actions.columns), strict=True)
    files = (File(path, size, count or 0) for path, size, count in rows)
    ascending = tuple(sorted(files, key=lambda file: file.path))
    facts = opened.metadata()
    schema = pa.schema(opened.schema().to_arrow())
    return Snapshot(
        opened.version(),
        ascending,
        schema,
        str(facts.id),
        facts.name or "",
        facts.description or "",
        facts.configuration,
    )


def snapshot_at(path: AnyPath, version: int) -> Snapshot:
    """A table at a version that it had."""
    try:
        snapshot = listed(open_table(path, version))
    except (DeltaError, OSError) as wrong:
        raise StateError(
            f"{path} has no version {version} any more ({wrong}); its log is kept for seven days"
        ) from wrong
    gone = [file.path for file in snapshot.files if not (path / file.path).exists()]
    if gone:
        raise StateError(
            f"{path}: {len(gone)} files of version {version} are removed, {gone[0]} first; vacuum takes what"
            " is replaced"
        )
    return snapshot
