"""Files that a commit names are on the disk before the commit is, and the commit before the next step begins.

After a power cut a file system may keep a new name and lose what the file held, or keep a later commit and
lose an earlier one. `MUNTIN_SYNC=off` leaves the order to the file system, as for a state that can be derived
again at any time.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache, singledispatch
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.errors import StateError
from muntin.files.object_path import ObjectPath
from muntin.store.disk import refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muntin.files.paths import AnyPath

SYNC = "MUNTIN_SYNC"
_AT_ONCE = 16  # a disk writes what several callers wait for together


@singledispatch
def sync(top: AnyPath, paths: Iterable[AnyPath]) -> None:
    """Wait until some files, and the names of the files and folders below `top`, are on the disk. A file that
    is gone is left out.

    Raises:
        StateError: the disk refuses, or `MUNTIN_SYNC` is neither "on" nor "off".
    """
    if not _is_on():
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


def _is_on() -> bool:
    said = os.environ.get(SYNC) or "on"
    if said not in ("on", "off"):
        raise StateError(f'{SYNC}: {said!r} is not understood; say "on" or "off"')
    return said == "on"


@cache
def _threads() -> ThreadPoolExecutor:
    """The threads of this process that wait for the disk: to start some for each commit takes longer than to
    wait.
    """
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
