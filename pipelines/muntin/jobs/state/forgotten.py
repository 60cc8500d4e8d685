"""The memory of forgotten keys: a log of small files in the folder of a pipeline, which the states of all its
definitions share.

<root>/<pipeline>/forgotten/000001.json   forget     these keys, by their hashes
                           /000002.json   done       nothing is left of them; with the report for the register
                           /000003.json   until      from this event time on rows of the key count again

The secret of the hashes lies in a file of its own: `MUNTIN_FORGET_KEY` names it, else it is
`<root>/.forget.key`.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from typing import Any, Literal

from muntin.definition.instants import AFTER_ALL
from muntin.definition.relative_paths import readable
from muntin.errors import ConflictError, StateError
from muntin.files.paths import AnyPath, path_of
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.forgotten_log import add_event, events_of
from muntin.jobs.state.notes import rewrite
from muntin.states.forgotten_keys import UNDONE, Columns, Hashed, Key, again, hash_of
from muntin.store.paths import digest_of
from muntin.store.state import FORGOTTEN

SECRET = "MUNTIN_FORGET_KEY"  # noqa: S105 - the name of a variable
Action = Literal["forget", "done", "until", "undo", "rotate"]
HashName = tuple[tuple[str, ...], str]
"""The columns of a key, and its hash."""
_TRIES = 50
_PUT_BACK = (
    f"put it back from a backup, or say where it lies: {SECRET}. Without it no batch is read; "
    "muntin doctor FILE says whether it is the right one"
)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The memory of a pipeline.

    Attributes:
        number: of the newest file of the log; 0: nothing was ever forgotten.
        untils: (columns, hash of a key) -> the event time from which its rows count again, microseconds;
            `AFTER_ALL`: never;
            `UNDONE`: always.
        open: the keys of which something may be left.
        secrets: how many secrets keys are hashed with, one after the other.
        ring: a digest of these secrets; "": an earlier version noted none.
        events: the files of the log, oldest first.
    """

    number: int = 0
    untils: Mapping[HashName, int] = field(default_factory=dict)
    open: frozenset[HashName] = frozenset()
    secrets: int = 0
    ring: str = ""
    events: tuple[Mapping[str, Any], ...] = ()


def forgotten(home: AnyPath) -> Forgotten:
    """The memory of the pipeline whose folder this is.

    Raises:
        StateError: a file of the log is gone or damaged.
    """
    return reduce(_after, events_of(home), Forgotten())


def _after(before: Forgotten, event: Mapping[str, Any]) -> Forgotten:
    """The memory after one more event."""
    names = [(tuple(each["columns"]), each["hash"]) for each in event["keys"]]
    untils, left = dict(before.untils), {*before.open}
    match event["action"]:
        case "forget":
            untils |= dict.fromkeys(names, AFTER_ALL)
            left.update(names)
        case "done" if event["format"] > 1:
            left.difference_update(names)
        case "until":
            untils |= dict.fromkeys(names, event["until_us"])
        case "undo":
            untils |= dict.fromkeys(names, UNDONE)
            left.difference_update(names)
        case "rotate":
            renewed = dict(
                zip(((tuple(each["columns"]), each["before"]) for each in event["keys"]), names, strict=True)
            )
            untils, left = (
                {renewed[name]: until for name, until in untils.items()},
                {renewed[name] for name in left},
            )
    ring = event.get("ring", before.ring)
    return Forgotten(
        before.number + 1, untils, frozenset(left), event["secrets"], ring, (*before.events, event)
    )


def hashed(bound: Bound, now: Forgotten | None = None) -> Hashed:
    """The forgotten keys, to be looked for in tables; empty where nothing is forgotten.

    Raises:
        StateError: the log is damaged, or the secret of its hashes is gone.
    """
    now = now or forgotten(bound.home)
    by_columns: dict[Columns, dict[str, int]] = {}
    for (columns, name), until in now.untils.items():
        by_columns.setdefault(columns, {})[name] = until
    return Hashed(by_columns, tuple(secrets_of(bound, now)) if by_columns else (), now.number)


def note(bound: Bound, action: Action, keys: Collection[Key], at: datetime, **more: Any) -> None:  # noqa: ANN401 - JSON
    """Add an event to the log, behind the events of other commands. The first time, a secret is made.

    Args:
        bound: the pipeline state.
        action: what was done.
        keys: with which keys.
        at: when, UTC.
        more: further facts: `until_us`, `report`.

    Raises:
        StateError: the disk refuses, or the log or the secret cannot be read.
    """

    def event(now: Forgotten) -> Mapping[str, Any]:
        used = secrets_of(bound, now)
        return {
            "action": action,
            **more,
            **_noted(used),
            "keys": [_told(hash_name(key, used)) for key in keys],
        }

    _add(bound, at, event)


def hash_name(key: Key, used: Sequence[bytes]) -> HashName:
    """A key's columns and its hash."""
    return tuple(name for name, _ in key), hash_of(key, used)


def _told(name: HashName) -> dict[str, Any]:
    return {"columns": list(name[0]), "hash": name[1]}


def rotate(bound: Bound, at: datetime) -> int:
    """Hash all hashes again with a new secret: who saw the log and the secrets until now learns nothing of
    it. How many there are.

    Raises:
        StateError: the secrets or the log cannot be read or written.
    """
    if not forgotten(bound.home).number:
        return 0
    _keep_secrets(bound, lambda ring: ring + _new_secret())

    def event(now: Forgotten) -> Mapping[str, Any]:
        ring = _ring(bound)
        rehashed = [
            _told((columns, reduce(again, ring[now.secrets :], name))) | {"before": name}
            for columns, name in now.untils
        ]
        return {"action": "rotate", **_noted(ring), "keys": rehashed}

    _add(bound, at, event)
    return len(forgotten(bound.home).untils)


def _add(bound: Bound, at: datetime, event_after: Callable[[Forgotten], Mapping[str, Any]]) -> None:
    for _ in range(_TRIES):
        now = forgotten(bound.home)
        with suppress(FileExistsError):
            return add_event(bound.home, now.number + 1, {"at": at.isoformat(), **event_after(now)})
    raise ConflictError(
        f"{bound.home / FORGOTTEN}: other commands keep writing there; run again when they are done"
    )


def secret_file(bound: Bound) -> AnyPath:
    """The file of the secrets."""
    return (
        path_of(readable(os.environ[SECRET], SECRET))
        if os.environ.get(SECRET)
        else bound.root / ".forget.key"
    )


def secrets_of(bound: Bound, now: Forgotten) -> Sequence[bytes]:
    """The secrets that hashes are made with now.

    Raises:
        StateError: they cannot be read or, the first time, be written.
    """
    if not now.number and not secret_file(bound).exists():
        _keep_secrets(bound, lambda ring: ring or _new_secret())
    ring = _ring(bound)
    if len(ring) < now.secrets:
        raise StateError(
            f"{secret_file(bound)} lacks secrets of forgotten keys: it has {len(ring)} of {now.secrets};"
            f" {_PUT_BACK}"
        )
    if now.number and now.ring not in ("", _noted(ring[: now.secrets])["ring"]):
        raise StateError(
            f"{secret_file(bound)} is damaged, or is not the secret of these forgotten keys; {_PUT_BACK}"
        )
    return ring[: now.secrets] if now.number else ring


def _noted(used: Sequence[bytes]) -> dict[str, Any]:
    """The digest of the secrets that an event holds: secrets are random, so that it tells nothing of them."""
    return {"secrets": len(used), "ring": digest_of(b"".join(used))}


def _ring(bound: Bound) -> Sequence[bytes]:
    path = secret_file(bound)
    try:
        return [bytes.fromhex(line) for line in path.read_text(encoding="utf-8").split()]
    except (OSError, ValueError) as wrong:
        said = f"{path}, the secret of forgotten keys, cannot be read ({wrong})"
        raise StateError(f"{said}; {_PUT_BACK}") from wrong


def _new_secret() -> bytes:
    return f"{secrets.token_hex(32)}\n".encode()


def _keep_secrets(bound: Bound, changed: Callable[[bytes], bytes]) -> None:
    rewrite(secret_file(bound), lambda ring: changed(ring or b""), 0o600)
