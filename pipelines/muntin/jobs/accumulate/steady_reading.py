"""A reading counts only if its files were the same before it and after it: a writer may be at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from muntin.errors import MuntinError, SourceError
from muntin.sources.listing import source_file
from muntin.sources.sessions.fetched_files import fetched_once
from muntin.store.retries import again_after

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muntin.sources import Source
    from muntin.sources.listing import SourceFile

Result = TypeVar("Result")
_TRIES, _FIRST_S = 4, 0.5


class _WrittenMeanwhileError(Exception):
    """The files with these paths changed while they were read."""


def steady(source: Source, paths: Sequence[str], read: Callable[[], Result]) -> tuple[Result, list[SourceFile]]:
    """The result of a reading of some files, and the facts of the files during the reading.

    Args:
        source: of the files.
        paths: of the files.
        read: reads them; called again if a file changed while it did so, whatever came of it.

    Raises:
        SourceError: a file is gone, or files keep changing.
        MuntinError: as `read`, of files that did not change.
    """
    return again_after(_WrittenMeanwhileError, _TRIES, _keeps_changing, first_s=_FIRST_S)(_attempted, source, paths, read)


def _attempted(source: Source, paths: Sequence[str], read: Callable[[], Result]) -> tuple[Result, list[SourceFile]]:
    before = as_they_are(source, paths)
    try:
        with fetched_once(before):
            result = read()
    except MuntinError:
        _check_same(source, paths, before)
        raise
    _check_same(source, paths, before)
    return result, before


def _check_same(source: Source, paths: Sequence[str], before: Sequence[SourceFile]) -> None:
    if changed := [now.path for was, now in zip(before, as_they_are(source, paths), strict=True) if was != now]:
        raise _WrittenMeanwhileError(", ".join(changed))


def _keeps_changing(last: BaseException | None) -> SourceError:
    return SourceError(
        f"{last}: written while it was read, {_TRIES} times; run again when the writer is done, "
        f"and let it write under a name that the source does not take and rename the file when it is whole"
    )


def as_they_are(source: Source, paths: Sequence[str]) -> list[SourceFile]:
    """The files as they are now.

    Raises:
        SourceError: a file is gone.
    """
    try:
        return [source_file(source, path) for path in paths]
    except FileNotFoundError as gone:
        raise SourceError(f"{gone.filename}: gone since the batch's files were listed; run again") from gone
