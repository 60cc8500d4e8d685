"""Whether the log of a Delta table can be trusted: each commit is whole, and none is missing.

deltalake opens a table whose last commit is empty as if that commit had never been, and dies of a torn one with a text about JSON.
"""

from __future__ import annotations

import json
import re
from itertools import count, takewhile
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.files.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.files.paths import AnyPath

_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\.parquet")


def problem_of_commit(path: AnyPath) -> str | None:
    """The problem of a commit (https://github.com/delta-io/delta/blob/master/PROTOCOL.md#delta-log-entries); None: it has none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        actions = [json.loads(line) for line in lines if line.strip()]
    except FileNotFoundError:
        return "is gone"
    except OSError as wrong:
        return f"cannot be read ({wrong.strerror})"
    except ValueError:
        return "is torn: it is not the JSON of a commit"
    return None if any(action.keys() - {"commitInfo"} for action in actions) else "is empty: it says nothing"


def problems_of_log(table: AnyPath) -> dict[AnyPath, str]:
    """The files of a log that are missing or not whole, each with what is wrong. Commits that a checkpoint covers do not count."""
    names = sorted(path.name for path in (table / "_delta_log").iterdir())
    commits = [int(found[1]) for name in names if (found := _COMMIT.fullmatch(name))]
    checkpoints = [int(found[1]) for name in names if (found := _CHECKPOINT.fullmatch(name))]
    first = max(checkpoints, default=-1)
    last = max([*commits, first])
    paths = [commit_path(table, version) for version in range(first + 1, last + 1)]
    problems = {path: problem for path in paths if (problem := problem_of_commit(path))}
    checkpoint = table / "_delta_log" / f"{first:020d}.checkpoint.parquet"
    if checkpoints and (problem := _of_checkpoint(checkpoint)):
        problems[checkpoint] = problem
    return problems


def commit_path(table: AnyPath, version: int) -> AnyPath:
    """The file of a commit."""
    return table / "_delta_log" / f"{version:020d}.json"


def newest_commits(table: AnyPath, version: int) -> Iterator[AnyPath]:
    """The files of the commits after a version."""
    return takewhile(lambda path: path.exists(), (commit_path(table, number) for number in count(version + 1)))


def _of_checkpoint(path: AnyPath) -> str | None:
    try:
        pq.read_table(readable(path), columns=["add"])
    except (OSError, pa.ArrowException) as wrong:
        return f"cannot be read ({str(wrong).splitlines()[0]})"
    return None
