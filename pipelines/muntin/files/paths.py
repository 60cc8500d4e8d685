"""The path of a file or folder: of this machine, or of an object store. Nothing else asks which it is."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from errno import ELOOP, ENOENT, ENOTDIR
from functools import singledispatch
from glob import glob
from os.path import commonprefix
from pathlib import Path
from stat import S_ISDIR
from typing import TypeVar
from urllib.parse import quote

from muntin.definition.relative_paths import is_object_store
from muntin.errors import StateError, StorageError
from muntin.files.object_path import ObjectPath
from muntin.files.object_stores import ObjectStat, table_options
from muntin.printable import printable

AnyPath = Path | ObjectPath
Item = TypeVar("Item")
Done = TypeVar("Done")
Stat = os.stat_result | ObjectStat
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")  # deltalake 1.6 decodes it once too often
# it takes \ for a slash; [, in a table's own name, is no host of a URL
_BROKEN = re.compile(r"[\x00-\x1f\x7f\\]|[][|^](?=[^/]*/*$)")
_NOTHING = (ENOENT, ENOTDIR, ELOOP)
_AT_ONCE = 16  # questions
_MANY = 17  # more patterns than questions at once
_MAGIC = re.compile(r"[*?[]")


def path_of(place: str | AnyPath, *parts: str) -> AnyPath:
    """The path of a place, with parts below it.

    >>> str(path_of("s3://bucket/state/", "a", "b.parquet"))
    's3://bucket/state/a/b.parquet'
    >>> path_of("state", "a")
    PosixPath('state/a')
    """
    if isinstance(place, ObjectPath) or (isinstance(place, str) and is_object_store(place)):
        from muntin.definition.extras import need

        need("obstore")
        scheme, _, rest = str(place).partition("://")
        return ObjectPath(
            "/".join([f"{scheme}:/", *filter(None, [*rest.split("/"), *"/".join(parts).split("/")])])
        )
    return Path(place, *parts)


@singledispatch
def remove_folder(path: AnyPath) -> None:
    """Remove a folder with everything in it. A missing folder is no error."""
    shutil.rmtree(str(path), ignore_errors=True)


@remove_folder.register(ObjectPath)
def _(path: ObjectPath) -> None:
    path.remove_all()


@singledispatch
def sizes_below(path: AnyPath) -> list[tuple[AnyPath, int, float]]:
    """All files below a folder: path, bytes, and when it was written, in seconds since 1970.

    Files removed meanwhile are left out.
    """
    sizes: list[tuple[AnyPath, int, float]] = []
    for folder, _, names in os.walk(str(path)):
        for name in names:
            with suppress(FileNotFoundError):
                stat = os.stat(f"{folder}/{name}")  # noqa: PTH116 - a Path takes twice as long
                sizes.append((Path(folder, name), stat.st_size, stat.st_mtime))
    return sizes


@sizes_below.register(ObjectPath)
def _(path: ObjectPath) -> list[tuple[AnyPath, int, float]]:
    return [(file, stat.st_size, stat.st_mtime) for file, stat in path.files()]


@singledispatch
def folders_in(path: AnyPath) -> list[AnyPath]:
    """The folders in a folder, ascending; none where there is no such folder."""
    return ascending(folder for folder in path.iterdir() if folder.is_dir()) if path.is_dir() else []


@folders_in.register(ObjectPath)
def _(path: ObjectPath) -> list[AnyPath]:
    return [path / name for name, stat in path.entries().items() if S_ISDIR(stat.st_mode)]


@singledispatch
def move_folder(path: AnyPath, target: AnyPath) -> None:
    """Give a folder another name, in one step. An object store has no such step, and is refused."""
    rename(path, target)


@move_folder.register(ObjectPath)
def _(path: ObjectPath, target: AnyPath) -> None:
    raise StateError(
        f"{path} is to become {target}, and an object store cannot rename a folder in one step; stop all"
        " runs, move it with the store's own tool (as aws s3 mv --recursive), and run again"
    )


def matching(pattern: str) -> list[str]:
    """The paths that a pattern with `*`, `?`, `[...]` and `**` names, ascending, hidden ones too."""
    path = path_of(pattern)
    if not isinstance(path, ObjectPath):
        return sorted(glob(pattern, recursive=True, include_hidden=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
    return sorted(map(str, ObjectPath(path.bucket).glob(path.key)))


def listed_together(patterns: Sequence[str]) -> dict[str, Stat] | None:
    """Path -> facts of all files below the folder that many patterns have in common, from the first pattern
    on: an object store is asked once for a thousand files, not once for each pattern.

    None of few patterns, or of a disk.
    """
    if len(patterns) < _MANY or not is_object_store(patterns[0]):
        return None
    heads = [_MAGIC.split(pattern, maxsplit=1)[0] for pattern in patterns]
    begin = commonprefix(heads)  # noqa: RUF071 - what stands before the last / of it is a folder
    folder, first = path_of(begin.rpartition("/")[0]), path_of(min(heads)[:-1])
    if not isinstance(folder, ObjectPath) or not isinstance(first, ObjectPath):
        return None
    return {path.address: stat for path, stat in folder.files(after=first.key or None)}


def names_in(folder: str) -> dict[str, Stat | None]:
    """The names in a folder, ascending, each with its facts where listing tells them; none where there is no
    such folder.
    """
    path = path_of(folder)
    if isinstance(path, ObjectPath):
        return dict(path.entries())
    with suppress(OSError):
        return dict.fromkeys(sorted(os.listdir(folder)))  # noqa: PTH208 - names alone, of which a folder may have many
    return {}


def stats_of(paths: Sequence[str]) -> dict[str, Stat]:
    """Path -> facts, for the paths that exist. An object store is asked for several at once."""
    if not any(map(is_object_store, paths)):
        return {path: stat for path in paths if (stat := _stat(path))}
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        stats = threads.map(_stat, paths)
        return {path: stat for path, stat in zip(paths, stats, strict=True) if stat}


def stat_of(path: str) -> Stat:
    """The facts of a path."""
    return path_of(path).stat() if is_object_store(path) else os.stat(path)  # noqa: PTH116 - a Path takes twice as long


def _stat(path: str) -> Stat | None:
    """Facts of a path on the disk or in the store; None if nothing is there.

    A run asks for each file of its batches.
    """
    try:
        return stat_of(path)
    except OSError as wrong:
        if wrong.errno in _NOTHING:
            return None
        raise


def etag(stat: Stat) -> str | None:
    """The ETag of an object's content: another content, another ETag. A disk has none."""
    return stat.st_ino if isinstance(stat, ObjectStat) else None


def rename(path: AnyPath, target: AnyPath) -> None:
    """Give a file or a folder another name on its disk or in its bucket.

    In an object store it is copied, and the old one removed.
    """
    path.rename(target)  # type: ignore[arg-type]


def ascending(paths: Iterable[AnyPath]) -> list[AnyPath]:
    """Paths of the same disk or bucket in their order."""
    return sorted(paths)  # type: ignore[type-var]


def relative(path: AnyPath, folder: AnyPath) -> str:
    """The path of something below a folder."""
    return (
        os.path.relpath(path, folder)
        if isinstance(path, Path) and isinstance(folder, Path)
        else str(path)[len(str(folder)) + 1 :]
    )


def side_by_side(do: Callable[[Item], Done], items: Sequence[Item], place: str) -> list[Done]:
    """The results of a function for each item, in turn; several at once where `place` is in an object store,
    whose answers take their time.

    The error of the first item that raises one is raised.
    """
    if len(items) < 2 or not is_object_store(place):  # noqa: PLR2004 - one item needs no threads
        return [do(item) for item in items]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return list(threads.map(do, items))


def table_address(place: str) -> str:
    """The address by which deltalake opens the Delta table at a place, no character of which begins a query
    or a fragment.

    >>> table_address("s3://bucket/a#b"), table_address("/data/a#b")
    ('s3://bucket/a%23b', '/data/a#b')
    """
    if (odd := _ENCODED.search(place)) or (not is_object_store(place) and (odd := _BROKEN.search(place))):
        raise StorageError(
            f"{printable(place)}: deltalake cannot open a Delta table with {odd[0]!r} in its path; give the"
            " folder another name"
        )
    return quote(place, safe=":/") if is_object_store(place) else place


def options_of(place: str) -> dict[str, str] | None:
    """How a Delta table at a place is reached; None on a disk."""
    return table_options(place) if is_object_store(place) else None
