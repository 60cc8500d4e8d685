"""The log of a Delta table: which commits there are, when each was made, and which files it added.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md

A commit is a file of JSON lines with its version as name. Older commits may be cleaned away behind a
checkpoint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from muntin.errors import SourceError
from muntin.files.near import near
from muntin.files.paths import Stat, names_in, path_of, stats_of
from muntin.files.some_rows import FILE_NUMBER, ROW
from muntin.sources.logged.deletion_vectors import vector
from muntin.sources.logged.log import Added, Commit, Log
from muntin.sources.logged.table_checkpoint import checkpoint_files
from muntin.sources.logged.table_layout import (
    check_folders,
    check_layout,
    layout,
    with_columns_of,
)
from muntin.sources.tables import TableSource

_COMMIT = re.compile(r"(\d{20})\.json")
_AT_ONCE = 16
_TIME_BITS = 64
_MADE: dict[tuple[str, int, int | str], int] = {}
"""A commit (path, size, when it was written) -> when it was made.

A commit never changes; a table may be made anew.
"""


@dataclass(frozen=True, slots=True)
class TableLog(Log):
    """The log of a Delta table. `root`: its folder or address."""

    kept_by = "delta.logRetentionDuration"
    removed_by = "VACUUM", "delta.deletedFileRetentionDuration"

    @property
    def whole(self) -> bool:
        return self.oldest == 0

    @property
    def mark(self) -> int:
        """The newest version and when it was made, which tells a table from a table that is made anew."""
        return (self.newest << _TIME_BITS) + self.made_us[self.newest]

    def since(self, mark: int) -> Sequence[int]:
        seen = mark >> _TIME_BITS
        is_there = mark and self.made_us.get(seen) == mark & ((1 << _TIME_BITS) - 1)
        return [version for version in self.made_us if not is_there or version > seen]

    def named(self, versions: Sequence[int]) -> str:
        if not versions:
            return ""
        first, last = versions[0], versions[-1]
        return f"version {first}" if first == last else f"versions {first} to {last}"

    def address(self, added: Added) -> str:
        file = f"{self.root}/{added.path}"
        if added.only:
            return f"{file}#only={added.only}" + (f"&not={added.without}" if added.without else "")
        return f"{file}#without={added.without}" if added.without else file

    def commit(self, version: int) -> Commit:
        lines = _lines(self.root, version)
        adds = [line["add"] for line in lines if "add" in line]
        removes = [line["remove"] for line in lines if "remove" in line]
        operation = next(
            (line["commitInfo"].get("operation") or "" for line in lines if "commitInfo" in line), ""
        )
        return Commit(
            version,
            operation,
            [_added(each, self.root) for each in adds],
            frozenset(unquote(each["path"]) for each in removes),
            frozenset(unquote(each["path"]) for each in adds if each["dataChange"]),
            any(each["dataChange"] for each in removes) or operation == "RESTORE",
            [_added(each, self.root) for each in removes if each["dataChange"]],
            [_added(line["cdc"], self.root) for line in lines if "cdc" in line],
        )

    def held(self, source: TableSource, version: int) -> list[Added]:  # noqa: ARG002 - as for every log
        return _active(self, version) if self.whole else _of_checkpoint(self, version)

    def in_full(self, source: TableSource) -> TableSource:
        table_layout = layout(self.root)
        check_layout(source, table_layout)
        return with_columns_of(source, table_layout)

    def check(self, source: TableSource, added: Sequence[Added]) -> None:
        """Refuse files in other folders than the log says, and columns that hide the numbers of rows."""
        hidden = {FILE_NUMBER, ROW} & {name.lower() for name in source.columns}
        for each in added if hidden else ():
            if each.without or each.only:
                raise SourceError(
                    f"{self.root}/{each.path}: rows of it are marked as deleted by their numbers, which"
                    f" cannot be read beside a column {min(hidden)!r}; rename it, or rewrite the table (REORG"
                    " TABLE ... APPLY (PURGE))"
                )
        check_folders(source, added)


def table_log(source: TableSource) -> TableLog:
    """The log of a table."""
    root = source.path
    folder = f"{root}/_delta_log"
    listed = {
        int(match[1]): stat for name, stat in names_in(folder).items() if (match := _COMMIT.fullmatch(name))
    }
    versions = sorted(listed)
    if not versions:
        there = near(folder)
        mend = f"mend the path in sources.table(...){f'; {there}' if there else ''}"
        raise SourceError(f"{root}: there is no Delta table (no commit in {folder}); {mend}")
    lost = sorted({*range(versions[0], versions[-1])} - {*versions})
    if lost:
        raise SourceError(
            f"{folder}: the commit of version {lost[0]} is lost, so nobody knows which rows it added; bring"
            " it back"
        )
    facts = {_path(root, version): stat for version, stat in listed.items() if stat}
    facts |= stats_of([path for version in versions if (path := _path(root, version)) not in facts])
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        commit_times_us = threads.map(
            lambda version: _made_us(root, version, facts.get(_path(root, version))), versions
        )
        return TableLog(root, dict(zip(versions, commit_times_us, strict=True)))


def _path(root: str, version: int) -> str:
    return f"{root}/_delta_log/{version:020d}.json"


def _made_us(root: str, version: int, stat: Stat | None) -> int:
    """When a version was committed, as its writer says; else when its file was written."""
    if stat is None:
        raise SourceError(f"{_path(root, version)}: gone since the log was listed; run again")
    key = _path(root, version), stat.st_size, stat.st_mtime_ns
    if key not in _MADE:
        info: Mapping[str, Any] = next(
            (line["commitInfo"] for line in _lines(root, version) if "commitInfo" in line), {}
        )
        made_ms = info.get("inCommitTimestamp", info.get("timestamp"))
        _MADE[key] = stat.st_mtime_ns // 1000 if made_ms is None else int(made_ms) * 1000
    return _MADE[key]


def _lines(root: str, version: int) -> list[dict[str, Any]]:
    path = _path(root, version)
    try:
        return [json.loads(line) for line in path_of(path).read_bytes().splitlines() if line.strip()]
    except FileNotFoundError as gone:
        raise SourceError(f"{path}: gone since the log was listed; run again") from gone
    except ValueError as wrong:
        raise SourceError(
            f"{path}: the commit is damaged ({wrong}); bring back the log of the table as it was"
        ) from wrong


def _added(line: Mapping[str, Any], root: str) -> Added:
    path, marks = unquote(line["path"]), line.get("deletionVector")
    return Added(
        path,
        line.get("size") or 0,
        line.get("partitionValues") or {},
        without=vector(marks, path, root) if marks else "",
    )


def _active(log: TableLog, version: int) -> list[Added]:
    """The files of a table at a version whose whole history is in the log."""
    files: dict[str, Added] = {}
    for each in range(version + 1):
        commit = log.commit(each)
        for path in commit.removed:
            files.pop(path, None)
        for added in commit.added:
            files.pop(added.path, None)
            files[added.path] = added
    return [*files.values()]


def _of_checkpoint(log: TableLog, version: int) -> list[Added]:
    """The files at a version by a checkpoint: of older commits by time of writing, newer in commit order."""
    behind, lines = checkpoint_files(log.root, log.oldest, version)
    older = sorted(lines, key=lambda line: (line["modificationTime"] or 0, unquote(line["path"])))
    files = {added.path: added for added in (_added(line, log.root) for line in older)}
    place = dict.fromkeys(files, (-1, 0))
    for number in range(log.oldest, version + 1):
        commit = log.commit(number)
        place.update({each.path: (number, at) for at, each in enumerate(commit.added)})
        if number > behind:
            for path in commit.removed:
                files.pop(path, None)
            files.update({each.path: each for each in commit.added})
    return [files[path] for path in sorted(files, key=place.__getitem__)]
