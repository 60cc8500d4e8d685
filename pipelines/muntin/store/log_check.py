"""Whether the log of a Delta table can be trusted: each commit is whole, and none is missing.

deltalake opens a table whose last commit is empty as if that commit had never been, and dies of a torn one
with a text about JSON. A checkpoint in Parquet is checked by no reader. So a commit says its digest in
`commitInfo`, where the protocol leaves room for what a writer wants to say, and `_last_checkpoint` that of
the checkpoint, in its `tags`. Commits and checkpoints of other writers have none.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md#commit-provenance-information
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import count, takewhile
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.files.object_path import ObjectPath
from muntin.files.paths import AnyPath
from muntin.files.readable import readable
from muntin.store.contents import digest_of_file
from muntin.store.paths import digest_of

DIGEST = "muntin.digest"
_ACTIONS: Mapping[str, Mapping[str, type]] = {
    "add": {"path": str, "partitionValues": dict, "size": int, "modificationTime": int, "dataChange": bool},
    "remove": {"path": str, "dataChange": bool},
    "metaData": {
        "id": str,
        "format": dict,
        "schemaString": str,
        "partitionColumns": list,
        "configuration": dict,
    },
    "protocol": {"minReaderVersion": int, "minWriterVersion": int},
    "txn": {"appId": str, "version": int},
    **{kind: {} for kind in ("commitInfo", "cdc", "domainMetadata", "sidecar", "checkpointMetadata")},
}
"""Kinds of actions -> what the protocol requires of them."""
HINT = "_last_checkpoint"
_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\.parquet")


def digest_of_commit(version: int, actions: bytes) -> str:
    """The digest of a commit: of its version, so that two commits cannot change places, and of its lines
    behind `commitInfo`.
    """
    return digest_of(b"%d\n%s" % (version, actions))


def problem_of_commit(path: AnyPath) -> str | None:
    """The problem of a commit (https://github.com/delta-io/delta/blob/master/PROTOCOL.md#delta-log-entries);
    None: it has none.
    """
    try:
        content = path.read_bytes()
        actions = [json.loads(line) for line in content.splitlines() if line.strip()]
        digest = next(
            (action["commitInfo"].get(DIGEST) for action in actions if "commitInfo" in action), None
        )
        says = any(action.keys() - {"commitInfo"} for action in actions)
        lack = next((lack for action in actions if (lack := _lack(action))), None)
    except FileNotFoundError:
        return "is gone"
    except OSError as wrong:
        return f"cannot be read ({wrong.strerror})"
    except (ValueError, AttributeError, TypeError, KeyError):
        return "is torn: it is not the JSON of a commit"
    if not says:
        return "is empty: it says nothing"
    if lack:
        return f"is damaged: {lack}"
    same = digest is None or digest == digest_of_commit(int(path.stem), content.partition(b"\n")[2])
    return None if same else "is damaged: its digest is not that of what it says"


def _lack(action: Mapping[str, Any]) -> str | None:
    """The field that an action lacks, or why it is none, in words; None: it is whole.

    A commit of deltalake has no digest.
    """
    for kind, fields in action.items():
        if kind not in _ACTIONS:
            return f"Delta knows no action {kind!r}"
        for name, of_type in _ACTIONS[kind].items():
            if not isinstance(fields.get(name), of_type):
                return f"an action {kind!r} has no {name!r}"
    if "metaData" in action:
        for field in json.loads(action["metaData"]["schemaString"])["fields"]:  # JSON in JSON
            if field.keys() != {"name", "type", "nullable", "metadata"}:
                return f"a column has {', '.join(field)}"
    return None


def problems_of_log(table: AnyPath) -> dict[AnyPath, str]:
    """The files of a log that are missing or not whole, each with what is wrong.

    Commits that a checkpoint covers do not count.
    """
    log = table / "_delta_log"
    commits, checkpoints = (_versions(kind, log) for kind in (_COMMIT, _CHECKPOINT))
    first = max(checkpoints, default=-1)
    problems = _of_commits(table, first, max([*commits, first]))
    if checkpoints and (problem := _of_checkpoint(_checkpoint_path(table, first), _hint(table))):
        problems[_checkpoint_path(table, first)] = problem
    if (log / HINT).is_file() and (problem := _of_hint(_hint(table), checkpoints)):
        problems[log / HINT] = problem
    return problems


def newest_checkpoint(table: AnyPath) -> int:
    """The version of the newest checkpoint that is there; -1: there is none."""
    return max(_versions(_CHECKPOINT, table / "_delta_log"), default=-1)


def _versions(kind: re.Pattern[str], log: AnyPath) -> list[int]:
    return [int(match[1]) for path in log.iterdir() if (match := kind.fullmatch(path.name))]


def problems_of_end(table: AnyPath, version: int) -> dict[AnyPath, str]:
    """The problems of the files that a version is read from, found without a listing of the log; all of the
    log, if there are any.

    An object store checks the content of what it keeps, and each file would be a request: there, it is the
    last commit alone.
    """
    if isinstance(table, ObjectPath):
        return _of_commits(table, version - 1, version) if commit_path(table, version).is_file() else {}
    hint = _hint(table)
    first = _version(hint)
    seen = _of_checkpoint(_checkpoint_path(table, first), hint, pages=False) if first >= 0 else None
    return problems_of_log(table) if seen or _of_commits(table, first, version) else {}


def _of_commits(table: AnyPath, after: int, last: int) -> dict[AnyPath, str]:
    paths = (commit_path(table, version) for version in range(after + 1, last + 1))
    return {path: problem for path in paths if (problem := problem_of_commit(path))}


def commit_path(table: AnyPath, version: int) -> AnyPath:
    """The file of a commit."""
    return table / "_delta_log" / f"{version:020d}.json"


def _checkpoint_path(table: AnyPath, version: int) -> AnyPath:
    return table / "_delta_log" / f"{version:020d}.checkpoint.parquet"


def newest_commits(table: AnyPath, version: int) -> Iterator[AnyPath]:
    """The files of the commits after a version."""
    return takewhile(
        lambda path: path.exists(), (commit_path(table, number) for number in count(version + 1))
    )


def hint_of(table: AnyPath, version: int) -> bytes | None:
    """The content of `_last_checkpoint` with the digest of the checkpoint at a version.

    None: it speaks of another version, or lies in an object store.
    """
    hint = _hint(table)
    if isinstance(table, ObjectPath) or _version(hint) != version:
        return None
    with _checkpoint_path(table, version).open("rb") as content:
        digest = digest_of_file(content)  # type: ignore[arg-type]
    return json.dumps({**hint, "tags": {**(hint.get("tags") or {}), DIGEST: digest}}).encode()


def _hint(table: AnyPath) -> Mapping[str, Any]:
    """The content of `_last_checkpoint`; {} where it is gone or torn."""
    try:
        hint = json.loads((table / "_delta_log" / HINT).read_bytes())
    except (OSError, ValueError):
        return {}
    return hint if isinstance(hint, dict) else {}


def _version(hint: Mapping[str, Any]) -> int:
    """The version of the checkpoint that a hint names; -1: it names none."""
    version = hint.get("version")
    return version if isinstance(version, int) else -1


def _of_hint(hint: Mapping[str, Any], checkpoints: list[int]) -> str | None:
    if not hint or _version(hint) < 0:
        return "is torn: it names no checkpoint"
    return None if _version(hint) in checkpoints else "names a checkpoint that is gone"


def _of_checkpoint(path: AnyPath, hint: Mapping[str, Any], *, pages: bool = True) -> str | None:
    """The problem of a checkpoint: by its digest, where the hint tells that.

    `pages`: whether it is read where the hint does not.
    """
    digest = (hint.get("tags") or {}).get(DIGEST) if _version(hint) == int(path.name[:20]) else None
    try:
        if digest is not None:
            with path.open("rb") as content:
                return None if digest_of_file(content) == digest else "is damaged: its digest is another"  # type: ignore[arg-type]
        if pages:
            pq.read_table(readable(path), columns=["add"])
        elif not path.is_file():
            return "is gone"
    except FileNotFoundError:
        return "is gone"
    except (OSError, pa.ArrowException) as wrong:
        return f"cannot be read ({str(wrong).splitlines()[0]})"
    return None
