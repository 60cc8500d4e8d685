"""Patterns of paths, for stores that know none."""

from __future__ import annotations

from fnmatch import fnmatchcase


def fits(path: str, pattern: str) -> bool:
    """Whether a path fits a pattern whose `**` stands for any number of folders."""
    parts, wanted = path.split("/"), pattern.split("/")
    return _fit(parts, wanted)


def _fit(parts: list[str], wanted: list[str]) -> bool:
    if not wanted:
        return not parts
    if wanted[0] == "**":
        return any(_fit(parts[at:], wanted[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], wanted[0]) and _fit(parts[1:], wanted[1:])
