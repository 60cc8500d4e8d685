"""The log of a Delta table: which commits there are, when each was made, and which files it added.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md

A commit is a file of JSON lines with its version as name. Older commits may be cleaned away behind a checkpoint.
"""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from muntin.errors import SourceError
from muntin.files.near import near
from muntin.files.paths import names_in, path_of, stats_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.files.paths import Stat

_COMMIT = re.compile(r"(\d{20})\.json")
_AT_ONCE = 16
_MADE: dict[tuple[str, int, int | str], int] = {}
"""A commit (path, size, when it was written) -> when it was made. A commit never changes; a table may be made anew."""


@dataclass(frozen=True, slots=True)
class Added:
    """A file that a commit added to a table.

    Attributes:
        path: below the table's folder.
        size: in bytes.
        partition: partition column -> its value as text; None: null.
        marked: whether some of its rows are marked as deleted (a deletion vector).
    """

    path: str
    size: int
    partition: Mapping[str, str | None]
    marked: bool


@dataclass(frozen=True, slots=True)
class Commit:
    """The changes of a commit to a table.

    Attributes:
        version: its number.
        operation: what the writer calls it, as WRITE.
        added: the files, in the order of the commit.
        removed: the paths of the files that it removed.
        data_added: the paths of the added files with rows that are new. A compaction adds files without any.
        data_removed: whether rows were removed or changed.
        gone: the removed files whose rows are not merely in other files now.
        feed: the files that say which rows it changed (the change feed); none where its table writes no feed, or whole files tell it.
    """

    version: int
    operation: str
    added: Sequence[Added]
    removed: frozenset[str]
    data_added: frozenset[str]
    data_removed: bool
    gone: Sequence[Added] = ()
    feed: Sequence[Added] = ()


@dataclass(frozen=True, slots=True)
class TableLog:
    """A table's log as it was when it was read.

    Attributes:
        root: the table's folder or address.
        made_us: version -> when it was committed, ascending by version without a gap.
    """

    root: str
    made_us: Mapping[int, int] = field(default_factory=dict)

    @property
    def oldest(self) -> int:
        """The first version whose commit is still there."""
        return next(iter(self.made_us))

    @property
    def newest(self) -> int:
        """The last version."""
        return next(reversed(self.made_us))  # type: ignore[call-overload, no-any-return]

    def commit(self, version: int) -> Commit:
        """The commit of a version.

        Raises:
            SourceError: its file is gone or damaged.
        """
        return _commit(version, _lines(self.root, version))


def table_log(root: str) -> TableLog:
    """The log of a table.

    Raises:
        SourceError: there is no table, or a commit is lost or damaged.
        StorageError: the object store cannot be used.
    """
    folder = f"{root}/_delta_log"
    found = sorted(int(match[1]) for name in names_in(folder) if (match := _COMMIT.fullmatch(name)))
    if not found:
        there = near(folder)
        mend = f"mend the path in sources.table(...){f'; {there}' if there else ''}"
        raise SourceError(f"{root}: there is no Delta table (no commit in {folder}); {mend}")
    lost = sorted({*range(found[0], found[-1])} - {*found})
    if lost:
        raise SourceError(f"{folder}: the commit of version {lost[0]} is lost, so nobody knows which rows it added; bring it back")
    facts = stats_of([_path(root, version) for version in found])
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        made = threads.map(lambda version: _made_us(root, version, facts.get(_path(root, version))), found)
        return TableLog(root, dict(zip(found, made, strict=True)))


def _path(root: str, version: int) -> str:
    return f"{root}/_delta_log/{version:020d}.json"


def _made_us(root: str, version: int, stat: Stat | None) -> int:
    """When a version was committed, as its writer says; else when its file was written."""
    if stat is None:
        raise SourceError(f"{_path(root, version)}: gone since the log was listed; run again")
    known = _path(root, version), stat.st_size, stat.st_mtime_ns
    if known not in _MADE:
        info: Mapping[str, Any] = next((line["commitInfo"] for line in _lines(root, version) if "commitInfo" in line), {})
        made_ms = info.get("inCommitTimestamp", info.get("timestamp"))
        _MADE[known] = stat.st_mtime_ns // 1000 if made_ms is None else int(made_ms) * 1000
    return _MADE[known]


def _lines(root: str, version: int) -> list[dict[str, Any]]:
    path = _path(root, version)
    try:
        return [json.loads(line) for line in path_of(path).read_bytes().splitlines() if line.strip()]
    except FileNotFoundError as gone:
        raise SourceError(f"{path}: gone since the log was listed; run again") from gone
    except ValueError as wrong:
        raise SourceError(f"{path}: the commit is damaged ({wrong}); bring back the log of the table as it was") from wrong


def _commit(version: int, lines: Sequence[Mapping[str, Any]]) -> Commit:
    adds = [line["add"] for line in lines if "add" in line]
    removes = [line["remove"] for line in lines if "remove" in line]
    operation = next((line["commitInfo"].get("operation") or "" for line in lines if "commitInfo" in line), "")
    return Commit(
        version,
        operation,
        [_added(each) for each in adds],
        frozenset(unquote(each["path"]) for each in removes),
        frozenset(unquote(each["path"]) for each in adds if each["dataChange"]),
        any(each["dataChange"] for each in removes) or operation == "RESTORE",
        [_added(each) for each in removes if each["dataChange"]],
        [_added(line["cdc"]) for line in lines if "cdc" in line],
    )


def _added(line: Mapping[str, Any]) -> Added:
    return Added(unquote(line["path"]), line.get("size") or 0, line.get("partitionValues") or {}, bool(line.get("deletionVector")))


def active(log: TableLog, version: int) -> Iterator[Added]:
    """The files of a table at a version whose whole history is in the log, in the order in which they came."""
    files: dict[str, Added] = {}
    for each in range(version + 1):
        commit = log.commit(each)
        for path in commit.removed:
            files.pop(path, None)
        for added in commit.added:
            files.pop(added.path, None)
            files[added.path] = added
    yield from files.values()
