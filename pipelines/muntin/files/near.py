"""Hints for a path that leads to nothing: similar names that exist, for people who misspelt it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from glob import has_magic
from pathlib import Path

from muntin.definition.relative_paths import is_object_store
from muntin.definition.spelling import did_you_mean

_SHOWN = 5
_ESCAPED = re.compile(r"\[([*?[])\]")  # as `glob.escape` writes it


def plain(pattern: str) -> str:
    """A pattern as its author wrote it.

    >>> plain("/a[[]1]/*.csv")
    '/a[1]/*.csv'
    """
    return _ESCAPED.sub(r"\1", pattern)


def near(pattern: str) -> str:
    """How far an absolute path or glob leads, what is there, and names similar to the rest; "" for an object
    store.
    """
    if is_object_store(pattern):
        return ""
    parts = Path(pattern).parts
    depth = next(count for count in range(len(parts), 0, -1) if _is_folder(parts[:count]))
    folder = _folder(parts[:depth])
    wanted = plain(parts[depth]) if depth < len(parts) else ""
    if depth + 1 < len(parts):
        folders = _names(folder, folders=True)
        names = _some(wanted, _names(folder))
        holds = _some(wanted, folders) or (f"no folder, but {names}" if names else "nothing")
        return (
            f"there is no folder {wanted!r} in {folder}, which holds {holds}{did_you_mean(wanted, folders)}"
        )
    return f"{folder} holds {_some(wanted, _names(folder)) or 'nothing'}"


def _some(wanted: str, names: Sequence[str]) -> str:
    """Some names; names that are similar to the wanted name come first."""
    close = get_close_matches(wanted, names, _SHOWN, 0.6)
    shown = [*close, *(name for name in names if name not in close)][:_SHOWN]
    return ", ".join(sorted(shown)) + (", ..." if len(names) > _SHOWN else "")


def _folder(parts: tuple[str, ...]) -> Path:
    return Path(*map(plain, parts))


def _is_folder(parts: tuple[str, ...]) -> bool:
    return len(parts) == 1 or (
        not has_magic(_ESCAPED.sub("", os.path.join(*parts))) and _folder(parts).is_dir()  # noqa: PTH118 - a pattern
    )


def _names(folder: Path, *, folders: bool = False) -> list[str]:
    with suppress(OSError):
        return sorted(
            path.name
            for path in folder.iterdir()
            if not path.name.startswith(".") and (path.is_dir() or not folders)
        )
    return []
