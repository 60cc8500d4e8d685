"""A reading counts only if its files were the same before it and after it: somebody may be writing them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from pipelines.errors import MuntinError, SourceError
from pipelines.sources.listing import source_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.sources import Source
    from pipelines.sources.listing import SourceFile

Result = TypeVar("Result")
_WAITS_S = (0.1, 0.5, 2.0)  # before each further try


def steady(source: Source, paths: Sequence[str], read: Callable[[], Result]) -> tuple[Result, list[SourceFile]]:
    """What a reading of some files gave, and the files as they were meanwhile.

    Args:
        source: of the files.
        paths: of the files.
        read: reads them; called again if a file changed while it did so, whatever came of it.

    Raises:
        SourceError: a file is gone, or files keep changing.
        MuntinError: as `read`, of files that did not change.
    """
    before = _as_they_are(source, paths)
    for wait_s in (*_WAITS_S, None):
        failure, result = None, None
        try:
            result = read()
        except MuntinError as wrong:
            failure = wrong
        after = _as_they_are(source, paths)
        if after == before and failure is not None:
            raise failure
        if after == before and result is not None:
            return result, before
        changed = [now.path for was, now in zip(before, after, strict=True) if was != now]
        before = after
        if wait_s is not None:
            time.sleep(wait_s)
    raise SourceError(
        f"{', '.join(changed)}: written while it was read, {len(_WAITS_S) + 1} times; run again when the writer is done, "
        f"and let it write under a name that the source does not take and rename the file when it is whole"
    )


def _as_they_are(source: Source, paths: Sequence[str]) -> list[SourceFile]:
    try:
        return [source_file(source, path) for path in paths]
    except FileNotFoundError as gone:
        raise SourceError(f"{gone.filename}: gone since the batch's files were listed; run again") from gone
