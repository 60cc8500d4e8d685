"""Notes: small files of JSON beside a state that several runs change. A note is read, changed and written
under one guard.

run A     read 1 .. write 2
run B               (waits)  read 2 .. write 3       no run writes what it made of a note that another run has
changed since
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from functools import partial, singledispatch
from typing import Any

from muntin.files.object_path import ObjectPath
from muntin.files.paths import AnyPath
from muntin.store.disk import refused, write_whole

_GUARD = ".guard"
"""The file that a run locks while it changes a note of a folder that cannot be locked itself, as on NFS.

It stays, and is empty.
"""


def read_note(note: AnyPath) -> Any:  # noqa: ANN401 - JSON
    """A note as JSON has it; None where it is missing or damaged.

    To write what follows from it there is `change_note`.
    """
    try:
        return json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def change_note(note: AnyPath, changed: Callable[[Any], Any]) -> None:
    """Change a note while no other run does: on a disk under a lock, in an object store by a condition.

    Args:
        note: the file.
        changed: gets the note as JSON has it, None where it is missing or damaged, and returns the new note,
            None to leave it as it is. It may be called again, with what another run wrote.

    Raises:
        StateError: the disk refuses. StorageError: the object store does.
    """
    rewrite(note, partial(_as_json, changed))


@singledispatch
def rewrite(note: AnyPath, changed: Callable[[bytes | None], bytes | None], mode: int = 0o666) -> None:
    """`change_note` of a file of any content:

    `changed` gets the content, None where it is missing. `mode`: as `write_whole` has it.
    """
    with _guarded(note):
        before = _content(note)
        if (after := changed(before)) not in (None, before):
            write_whole(note, after, mode)


@rewrite.register(ObjectPath)
def _(note: ObjectPath, changed: Callable[[bytes | None], bytes | None], mode: int = 0o666) -> None:  # noqa: ARG001 - an object has none
    def other(before: bytes | None) -> bytes | None:
        after = changed(before)
        return None if after == before else after

    note.change(other)


def _as_json(changed: Callable[[Any], Any], content: bytes | None) -> bytes | None:
    try:
        before = json.loads(content or b"null")
    except ValueError:
        before = None
    after = changed(before)
    return None if after is None else f"{json.dumps(after)}\n".encode()


def _content(note: AnyPath) -> bytes | None:
    try:
        return note.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as wrong:
        raise refused(str(note), wrong) from wrong


@contextmanager
def _guarded(note: AnyPath) -> Iterator[None]:
    """Alone among the processes and threads that change notes of the folder, unless its file system has no
    locks.
    """
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        held = _locked(str(note.parent), os.O_RDONLY) or _locked(
            str(note.with_name(_GUARD)), os.O_RDWR | os.O_CREAT
        )
    except OSError as wrong:
        raise refused(str(note), wrong) from wrong
    try:
        yield
    finally:
        if held:
            os.close(held)


def _locked(path: str, how: int) -> int | None:
    """The folder or file, open and locked; None where its file system does not lock it.

    The lock goes with the process.
    """
    held = os.open(path, how, 0o666)
    try:
        flock(held, LOCK_EX)
    except OSError:
        os.close(held)
        return None
    return held
