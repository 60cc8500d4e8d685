"""A commit is one new file at the end of a Delta log: whoever makes the next file is the next. And what
commits changed, from the log alone: the files that each added and removed.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md#delta-log-entries
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

from muntin.errors import ConflictError
from muntin.files.paths import AnyPath
from muntin.store.disk import write_new
from muntin.store.log_check import DIGEST, commit_path, digest_of_commit, newest_checkpoint, problem_of_commit
from muntin.store.store import Change, File

Action = Mapping[str, Mapping[str, Any]]


_OPERATION = {
    "operation": "WRITE",
    "operationParameters": {"mode": "Append", "partitionBy": "[]"},
    "engineInfo": "muntin",
}
_NOT_QUOTED = "/!$&'()*+,;=:@~"
_OF_TABLE = ("protocol", "metaData")


def append(table: AnyPath, base: int, change: Change, now_ms: int, first: Sequence[Action] = ()) -> int:
    """Commit a change behind the version that it is derived from, or behind later commits that it agrees
    with.

    Result: the version that was made. `table`: its folder. Commit `base` must be there, so that the log has
    no hole. `base`: the version of the snapshot that the change is derived from. `change`: files and names.
    Its schema must be the schema of the table. `now_ms`: milliseconds since 1970. `first`: actions before the
    actions of the change; of a new table, whose `base` is -1, the actions that make it.
    """
    actions = b"\n".join(map(_line, [*first, *_actions(base, change, now_ms)]))
    about = {"timestamp": now_ms, **_OPERATION, "txnId": str(uuid4())}
    for version in count(base + 1):
        path = commit_path(table, version)
        content = b"\n".join(
            [_line({"commitInfo": {**about, DIGEST: digest_of_commit(version, actions)}}), actions]
        )
        try:
            write_new(path, content)
        except FileExistsError:
            theirs = path.read_bytes() if path.is_file() else b""  # whoever ends old versions removes it
            if theirs == content:  # the object store had taken it, and its answer was lost
                return version
            if reason := problem_of_commit(path) or contradiction(
                map(json.loads, filter(None, theirs.splitlines())), change
            ):
                raise ConflictError(
                    f"{table}: another run committed first (version {version} {reason})"
                ) from None
            continue
        if _is_lost(table, base, version):
            path.unlink(missing_ok=True)
            raise ConflictError(f"{table}: another run committed first, and ended old versions")
        return version
    raise AssertionError


def _is_lost(table: AnyPath, base: int, version: int) -> bool:
    """Whether no reader sees a commit that was just made: its number was free since old versions had ended,
    or the commit before it is gone.

    The commit before it may be another such commit, so the base is looked at, too. Whoever ends versions
    writes a checkpoint before.
    """
    before = version - 1
    if base >= 0 and all(commit_path(table, each).is_file() for each in {base, before}):
        return False
    newest = newest_checkpoint(table)
    return newest > version or (newest < before and not commit_path(table, before).is_file())


def contradiction(theirs: Iterable[Action], change: Change) -> str | None:
    """Why a change does not go behind a commit that it does not know of; None: it does.

    The same rule as deltalake's: what is derived from a snapshot may have been derived from any of its files.
    "Delta Lake: High-Performance ACID Table Storage over Cloud Object Stores" (Armbrust et al., VLDB 2020),
    3.2; https://github.com/delta-io/delta/blob/master/PROTOCOL.md#transaction-identifiers.
    """
    for action in theirs:
        if any(kind in action for kind in _OF_TABLE):
            return "changed the table itself"
        if "txn" in action and action["txn"]["appId"] in change.names:
            return f"has the name {action['txn']['appId']}"
        if "remove" in action:
            return f"removed {action['remove']['path']}"
    return None


def _line(action: Action) -> bytes:
    # deltalake takes escapes of U+20000 for U+10000
    return json.dumps(action, separators=(",", ":"), ensure_ascii=False).encode()


def _actions(base: int, change: Change, now_ms: int) -> Iterable[Action]:
    yield from ({"txn": {"appId": name, "version": base + 1, "lastUpdated": now_ms}} for name in change.names)
    yield from (
        {"remove": {**_file(file), "extendedFileMetadata": True, "deletionTimestamp": now_ms}}
        for file in change.removes
    )
    yield from (
        {"add": {**_file(file), "modificationTime": now_ms, "stats": stats(file, change)}}
        for file in change.adds
    )


def _file(file: File) -> dict[str, Any]:
    # a compaction changes data, too: deltalake lets a commit remove what a commit without change of data has
    # removed
    return {
        "path": quote(file.path, _NOT_QUOTED),
        "dataChange": True,
        "partitionValues": {},
        "size": file.size,
    }


def stats(file: File, change: Change) -> str:
    """The number of rows, and the ranges of columns where all have one."""
    return change.stats.get(file.path) or json.dumps({"numRecords": file.rows})


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: the version that it made, and the paths of files below the table that it
    added and removed.
    """

    version: int
    adds: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()


def commits_between(table: AnyPath, since: int, until: int) -> list[Commit]:
    """The commits after a version, up to another, ascending. Old commits that the log does not hold any more
    are left out.

    `table`: its folder. `since`, `until`: versions; the commit that made `since` does not count.
    """
    commits = list[Commit]()
    for version in range(until, since, -1):
        try:
            actions = _actions_of(table, version)
            adds, removes = (
                tuple(unquote(each[kind]["path"]) for each in actions if kind in each)
                for kind in ("add", "remove")
            )
            commits.append(Commit(version, adds, removes))
        except FileNotFoundError:
            break
    return commits[::-1]


def committed_ms(table: AnyPath, version: int) -> int:
    """When a commit was made, milliseconds since 1970; 0 where the log does not hold it any more."""
    with suppress(OSError, ValueError):
        return next(
            (
                int(action["commitInfo"]["timestamp"])
                for action in _actions_of(table, version)
                if "commitInfo" in action
            ),
            0,
        )
    return 0


def _actions_of(table: AnyPath, version: int) -> list[Any]:
    # which cuts texts at U+2028 and U+0085 within values, too
    lines = commit_path(table, version).read_bytes().splitlines()
    return [json.loads(line) for line in lines if line.strip()]
