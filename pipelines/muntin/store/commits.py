"""Changes of commits to a table: the files that each commit added and removed, from the log alone."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from muntin.store.log_check import commit_path

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath


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

    https://github.com/delta-io/delta/blob/master/PROTOCOL.md#delta-log-entries

    Args:
        table: its folder.
        since, until: versions; the commit that made `since` does not count.
    """
    commits = list[Commit]()
    for version in range(until, since, -1):
        try:
            actions = _actions(table, version)
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
                for action in _actions(table, version)
                if "commitInfo" in action
            ),
            0,
        )
    return 0


def _actions(table: AnyPath, version: int) -> list[Any]:
    # which cuts texts at U+2028 and U+0085 within values, too
    lines = commit_path(table, version).read_bytes().splitlines()
    return [json.loads(line) for line in lines if line.strip()]
