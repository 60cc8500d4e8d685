"""Files are written whole or not at all; and the errors of a disk, in words that say what to do.

Files that a commit names are on the disk before the commit is, and the commit before the next step begins.

After a power cut a file system may keep a new name and lose what the file held, or keep a later commit and
lose an earlier one. `MUNTIN_SYNC=off` leaves the order to the file system, as for a state that can be derived
again at any time.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial, singledispatch
from pathlib import Path
from uuid import uuid4

from muntin.errors import StateError
from muntin.files.object_path import ObjectPath
from muntin.files.paths import AnyPath, remove_folder

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
_TOLD = re.compile(r"([^:]+) \(os error (\d+)\)")  # by Rust


@singledispatch
def write_whole(target: AnyPath, content: bytes | memoryview, mode: int = 0o666) -> None:
    """Write a file whole: on a disk to a file of another name, which is then renamed. `target` never holds
    half of the content.

    `mode`: of the file, from the moment that it is there, less the bits of the process's mask.
    """
    with draft_of(target) as draft:
        with open(str(draft), "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(content)
        draft.replace(target)  # type: ignore[arg-type]


@write_whole.register(ObjectPath)
def _(target: ObjectPath, content: bytes | memoryview, mode: int = 0o666) -> None:  # noqa: ARG001 - an object has none
    target.write_bytes(content)


@contextmanager
def draft_of(target: AnyPath) -> Iterator[AnyPath]:
    """A path beside a file that is to be written on a disk; what is there is removed if the disk refuses."""
    draft = target.with_name(f".{target.name}.{uuid4().hex}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield draft
    except OSError as wrong:
        with suppress(OSError):
            draft.unlink()
        raise refused(str(target), wrong) from wrong


@singledispatch
def write_new(target: AnyPath, content: bytes) -> None:
    """Write a file whole; FileExistsError if it is there: of two writers at once one comes first."""
    draft = target.with_name(f"{target.stem}.{uuid4().hex}.draft")
    try:
        write_whole(draft, content)
        os.link(str(draft), str(target))  # unlike a rename, it fails where a rival came first
    except FileExistsError:
        raise
    except OSError as wrong:
        raise (
            _linkless(str(target), wrong) if wrong.errno in _NO_LINKS else refused(str(target), wrong)
        ) from wrong
    finally:
        with suppress(OSError):
            draft.unlink()


@write_new.register(ObjectPath)
def _(target: ObjectPath, content: bytes) -> None:
    target.write_new(content)


def remove_whole(folder: AnyPath) -> None:
    """Remove a folder with everything in it; StateError if something of it stays."""
    remove_folder(folder)
    if folder.is_dir():
        raise StateError(
            f"cannot remove {folder}: something of it stays; give the state a root that can be written"
        )


def link(source: AnyPath, target: AnyPath) -> None:
    """Give a file a second name; where names cannot share a content, copy it. What is there already stays.

    The file is young then, however old it is: vacuum leaves it until a commit names it.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _link(target, source)
    except OSError:
        try:
            write_whole(target, source.read_bytes())
        except OSError as wrong:
            raise refused(str(source), wrong) from wrong


@singledispatch
def _link(target: AnyPath, source: AnyPath) -> None:
    if not target.is_file():
        with suppress(FileExistsError):
            target.hardlink_to(source)  # type: ignore[arg-type]
    os.utime(str(target))


@_link.register(ObjectPath)
def _(target: ObjectPath, source: ObjectPath) -> None:
    """A copy is young. What is there is written again, since no time of an object can be set."""
    if target.is_file():
        target.write_bytes(target.read_bytes())
    else:
        target.hardlink_to(source)


def _linkless(target: str, wrong: OSError) -> StateError:
    return StateError(
        f"cannot write {target}: its file system has no hard links ({wrong.strerror}), by which one of two"
        " writers of a commit is first; give the state a root on one that has, as ext4, XFS, APFS or NFS,"
        " not FAT or exFAT, or in an object store. Nothing was published"
    )


def refused_through(target: str, wrong: Exception) -> StateError | None:
    """The error for a disk that refuses, as the system or deltalake tells of it; None where they tell of
    something else.
    """
    match = _TOLD.search(str(wrong))
    disk = OSError(int(match[2]), match[1].strip()) if match else wrong
    if not isinstance(disk, OSError) or disk.errno in (None, errno.EEXIST, errno.ENOENT):
        return None
    return _linkless(target, disk) if disk.errno in _NO_LINKS else refused(target, disk)


def refused(target: str, wrong: OSError) -> StateError:
    """The error for a disk that is full, or a folder that must not be written; it says what to do."""
    if wrong.errno in _FULL or any(f"os error {number}" in str(wrong) for number in _FULL):
        return StateError(
            f"no space left to write {target}; free some or give the state another root. Nothing was"
            " published; run again"
        )
    return StateError(
        f"cannot write {target}: {wrong.strerror or wrong}; give the state a root that can be written"
    )


SYNC = "MUNTIN_SYNC"
_AT_ONCE = 16  # a disk writes what several callers wait for together


@singledispatch
def sync(top: AnyPath, paths: Iterable[AnyPath]) -> None:
    """Wait until some files, and the names of the files and folders below `top`, are on the disk. A file that
    is gone is left out.
    """
    said = os.environ.get(SYNC) or "on"
    if said not in ("on", "off"):
        raise StateError(f'{SYNC}: {said!r} is not understood; say "on" or "off"')
    if said == "off":
        return
    files = [*dict.fromkeys(map(str, paths))]
    folders = dict.fromkeys(
        str(folder) for file in files for folder in Path(file).parents if folder.is_relative_to(str(top))
    )
    if files:
        list(_threads().map(_sync, (*files, *folders)))


@sync.register(ObjectPath)
def _(top: ObjectPath, paths: Iterable[AnyPath]) -> None:
    """Nothing to do: an object is safe as soon as its store has taken it."""


@cache
def _threads() -> ThreadPoolExecutor:
    """The threads that wait for the disk: to start some for each commit takes longer than the wait."""
    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="muntin-sync")


os.register_at_fork(after_in_child=_threads.cache_clear)  # a fork has none of its parent's threads


def _sync(path: str) -> None:
    try:
        number = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(number)
    except OSError as wrong:
        raise refused(path, wrong) from wrong
    finally:
        os.close(number)
