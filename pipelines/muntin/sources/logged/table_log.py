"""The log of a Delta table: which commits there are, when each was made, and which files it added.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md

A commit is a file of JSON lines with its version as name. Older commits may be cleaned away behind a
checkpoint.
"""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa

from muntin.errors import SourceError
from muntin.files.near import near
from muntin.files.paths import names_in, path_of, stats_of
from muntin.sources.logged.log import Added, Commit, Log
from muntin.sources.logged.table_layout import (
    check_folders,
    check_layout,
    layout,
    open_table,
    with_columns_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.files.paths import Stat
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
        return f"{self.root}/{added.path}"

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
            [_added(each) for each in adds],
            frozenset(unquote(each["path"]) for each in removes),
            frozenset(unquote(each["path"]) for each in adds if each["dataChange"]),
            any(each["dataChange"] for each in removes) or operation == "RESTORE",
            [_added(each) for each in removes if each["dataChange"]],
            [_added(line["cdc"]) for line in lines if "cdc" in line],
        )

    def held(self, source: TableSource, version: int) -> list[Added]:
        return _active(self, version) if self.whole else _of_checkpoint(source, self, version)

    def in_full(self, source: TableSource) -> TableSource:
        table_layout = layout(self.root)
        check_layout(source, table_layout)
        return with_columns_of(source, table_layout)

    def check(self, source: TableSource, added: Sequence[Added]) -> None:
        """Refuse files with rows that are marked as deleted, and in other folders than the log says."""
        for each in added:
            if each.marked:
                raise SourceError(
                    f"{self.address(each)}: rows of it are marked as deleted (a deletion vector), which"
                    " sources.table cannot read; read the table with sources.spark(...), or rewrite it"
                    " (REORG TABLE ... APPLY (PURGE))"
                )
        check_folders(source, added)


def table_log(source: TableSource) -> TableLog:
    """The log of a table."""
    root = source.path
    folder = f"{root}/_delta_log"
    versions = sorted(int(match[1]) for name in names_in(folder) if (match := _COMMIT.fullmatch(name)))
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
    facts = stats_of([_path(root, version) for version in versions])
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


def _added(line: Mapping[str, Any]) -> Added:
    return Added(
        unquote(line["path"]),
        line.get("size") or 0,
        line.get("partitionValues") or {},
        bool(line.get("deletionVector")),
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


def _of_checkpoint(source: TableSource, log: TableLog, version: int) -> list[Added]:
    """The files at a version by a checkpoint: of older commits by time of writing, newer in commit order."""
    opened = open_table(source.path, version)
    if "deletionVectors" in (opened.protocol().reader_features or ()):
        raise SourceError(
            f"{source.path}: rows of version {version} may be marked as deleted (deletion vectors), which"
            " sources.table cannot read; read the table with sources.spark(...), or rewrite it once (REORG"
            " TABLE ... APPLY (PURGE)) and drop the feature"
        )
    came = {
        each.path: (number, place)
        for number in range(log.oldest, version + 1)
        for place, each in enumerate(log.commit(number).added)
    }
    files = {unquote(each["path"]): each for each in pa.table(opened.get_add_actions()).to_pylist()}
    order = sorted(files, key=lambda path: (*came.get(path, (-1, files[path]["modification_time"])), path))
    # of partitions the values in the form that the log has them
    return [
        Added(
            path,
            files[path]["size_bytes"],
            {
                name: value
                for name, value in (files[path].get("partition") or {}).items()
                if value is None or isinstance(value, str)
            },
        )
        for path in order
    ]
