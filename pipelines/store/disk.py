"""Files are written whole or not at all; and the errors of a disk, in words that say what to do."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from pipelines.errors import StateError

if TYPE_CHECKING:
    from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_whole(target: Path, content: bytes | memoryview) -> None:
    """Write to a file of another name, then rename it: `target` never holds half of the content.

    Raises:
        StateError: no space, or no permission.
    """
    partial = target.with_name(f".{target.name}.{uuid4().hex}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        partial.replace(target)
    except OSError as wrong:
        with suppress(OSError):
            partial.unlink()
        raise refused(str(target), wrong) from wrong


def link(source: Path, target: Path) -> None:
    """Give a file a second name; where the disk knows no links, copy it. What is there already stays.

    Raises:
        StateError: no space, or no permission; or the file is gone.
    """
    if target.exists():
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(source, target)
    except FileExistsError:
        return
    except OSError:
        try:
            write_whole(target, source.read_bytes())
        except OSError as wrong:
            raise refused(str(source), wrong) from wrong


def refused(target: str, wrong: OSError) -> StateError:
    """The error for a disk that is full, or a folder that must not be written; it says what to do."""
    if wrong.errno in _FULL or any(f"os error {number}" in str(wrong) for number in _FULL):
        return StateError(f"no space left to write {target}; free some or give the state another root. Nothing was published; run again")
    return StateError(f"cannot write {target}: {wrong.strerror or wrong}; give the state a root that can be written")
