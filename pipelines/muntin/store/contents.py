"""Checks that a file still has the content that its name says: a name ends with the digest of the content."""

from __future__ import annotations

from hashlib import file_digest
from io import BytesIO
from typing import TYPE_CHECKING, cast

from blake3 import blake3

from muntin.errors import StateError
from muntin.store.paths import DIGEST_BYTES, NOTES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import BufferedIOBase

    from muntin.files.paths import AnyPath
    from muntin.store.store import File


def problem_of(path: AnyPath) -> str | None:
    """The problem of a file that is named by its content; None: the file is whole.

    Parquet's checksums of pages are not enough: the footer decides which pages are read, and a damaged footer hides some.
    """
    try:
        with path.open("rb") as content:
            whole = _is_named(path, cast("BufferedIOBase", content))
    except FileNotFoundError:
        return "is gone"
    except OSError as wrong:
        return f"cannot be read ({wrong.strerror})"
    return None if whole else "is damaged: its content is not what its name says"


def digest_of_file(content: BufferedIOBase) -> str:
    """The digest of a file's content, as `paths.digest_of` has it of bytes."""
    return file_digest(content, blake3).hexdigest(length=DIGEST_BYTES)  # type: ignore[arg-type, call-arg, no-any-return]


def _is_named(path: AnyPath, content: BufferedIOBase) -> bool:
    """Whether a name ends with the digest of a content."""
    return path.stem.endswith(digest_of_file(content))


def check_whole(folder: AnyPath, files: Iterable[File]) -> None:
    """Check that some files of a table have the content that their names say, before their rows are written to another file.

    Raises:
        StateError: a file is gone or damaged.
    """
    for file in files:
        if problem := problem_of(folder / file.path):
            raise StateError(f"{folder}/{file.path} {problem}; run all batches from the first to the last that its path names again")


def whole_content(folder: AnyPath, file: File) -> bytes:
    """The content of a file of a table, which is what its name says.

    Raises:
        StateError: the file is gone or damaged.
    """
    path = folder / file.path
    try:
        content = path.read_bytes()
    except OSError as wrong:
        raise StateError(f"{path} cannot be read ({wrong.strerror})") from wrong
    if not _is_named(path, BytesIO(content)):
        raise StateError(f"{path} is damaged: its content is not what its name says")
    return content


def problems_of_notes(folder: AnyPath, paths: Iterable[str]) -> list[str]:
    """The problems of some files of notes, a line for each file that is gone or damaged.

    `folder`: of the state.
    """
    problems = ((path, problem_of(folder / NOTES / path)) for path in paths)
    return [f"note {path} {problem}" for path, problem in problems if problem]
