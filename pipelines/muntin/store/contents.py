"""Checks that a file still has the content that its name says: a name ends with the digest of the content."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import file_digest
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import cast

import pyarrow as pa
from blake3 import blake3

from muntin.definition.relative_paths import is_object_store
from muntin.errors import StateError
from muntin.files.object_path import ObjectPath
from muntin.files.paths import AnyPath
from muntin.store.paths import DIGEST_BYTES, NOTES, digest_of
from muntin.store.store import File

_SMALL = 2**20  # bytes
_OTHER = "is damaged: its content is not what its name says"


def problem_of(path: AnyPath) -> str | None:
    """The problem of a file that is named by its content; None: the file is whole.

    Parquet's checksums of pages are not enough: the footer decides which pages are read, and a damaged footer
    hides some.
    """
    try:
        with path.open("rb") as content:
            whole = _is_named(path, cast("BufferedIOBase", content))
    except FileNotFoundError:
        return "is gone"
    except OSError as wrong:
        return f"cannot be read ({wrong.strerror})"
    return None if whole else _OTHER


def check_once(sizes: Mapping[str, int]) -> None:
    """Check that local files have the sizes that the log says and the content that their names say. Each is
    read for it once a process.

    `sizes`: place -> bytes. Files of an object store are checked as they are fetched.
    """
    for place, size in sizes.items():
        if problem := problem_once(place, size):
            raise damaged(place, problem)


def problem_once(place: str, size: int | None = None) -> str | None:
    """The problem of a local file, whose content is read once a process; None: it is whole, or lies in an
    object store.

    `size`: as the log says; None: it is not known.
    """
    if is_object_store(place):
        return None
    try:
        stat = os.stat(place)  # noqa: PTH116 - a Path takes twice as long
    except OSError as wrong:
        return "is gone" if isinstance(wrong, FileNotFoundError) else f"cannot be read ({wrong.strerror})"
    return problem_of_size(stat.st_size, size) or _problem_of_known(
        place, stat.st_ino, stat.st_size, stat.st_mtime_ns
    )


@lru_cache(maxsize=2**16)
def _problem_of_known(place: str, _number: int, size: int, _written_ns: int) -> str | None:
    """The problem of a file, by its facts: another file under the same name is another one.

    A small one is read at once.
    """
    if size > _SMALL:
        return problem_of(Path(place))
    try:
        with open(place, "rb", buffering=0) as content:  # noqa: PTH123 - a Path takes twice as long
            return None if place.rpartition(".")[0].endswith(digest_of(content.read())) else _OTHER
    except OSError as wrong:
        return f"cannot be read ({wrong.strerror})"


def problem_of_size(actual_size: int, size: int | None) -> str | None:
    """The problem of a file of some bytes. `size`: as the log says; None: it is not known."""
    return None if size is None or actual_size == size else f"has {actual_size:,} bytes instead of {size:,}"


def fetched(place: str, size: int | None) -> pa.BufferReader:
    """A file of an object store for Arrow to read, whole. `size`: as the log says; then it also has the
    content that its name says.
    """
    content = ObjectPath(place).readable()
    named = size is None or ObjectPath(place).stem.endswith(digest_of(memoryview(content)))
    if problem := problem_of_size(content.size, size) or (None if named else _OTHER):
        raise damaged(place, problem)
    return pa.BufferReader(content)


def damaged(place: str | AnyPath, problem: str) -> StateError:
    """The error about a file of a state, and what mends it."""
    return StateError(f"{place} {problem}; muntin doctor --mend FILE derives it again")


def digest_of_file(content: BufferedIOBase) -> str:
    """The digest of a file's content, as `paths.digest_of` has it of bytes."""
    return file_digest(content, blake3).hexdigest(length=DIGEST_BYTES)  # type: ignore[arg-type, call-arg, no-any-return]


def _is_named(path: AnyPath, content: BufferedIOBase) -> bool:
    """Whether a name ends with the digest of a content."""
    return path.stem.endswith(digest_of_file(content))


def check_whole(folder: AnyPath, files: Iterable[File]) -> None:
    """Check that some files of a table have the content that their names say, before their rows are written
    to another file.
    """
    for file in files:
        if problem := problem_of(folder / file.path):
            raise damaged(folder / file.path, problem)


def whole_content(folder: AnyPath, file: File) -> bytes:
    """The content of a file of a table, which is what its name says."""
    path = folder / file.path
    try:
        content = path.read_bytes()
    except OSError as wrong:
        raise damaged(path, f"cannot be read ({wrong.strerror})") from wrong
    if not _is_named(path, BytesIO(content)):
        raise damaged(path, _OTHER)
    return content


def problems_of_notes(folder: AnyPath, paths: Iterable[str]) -> list[str]:
    """The problems of some files of notes, a line for each file that is gone or damaged.

    `folder`: of the state.
    """
    problems = ((path, problem_of(folder / NOTES / path)) for path in paths)
    return [f"note {path} {problem}" for path, problem in problems if problem]
