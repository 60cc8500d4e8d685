"""Files by pattern, for many patterns at once: a folder with the files of ten thousand batches is listed once, not once for each."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from fnmatch import filter as names_like
from glob import has_magic
from typing import TYPE_CHECKING

from muntin.files.paths import matching, names_in

if TYPE_CHECKING:
    from muntin.files.paths import Stat

_MAGIC = re.compile(r"[*?[]")
_LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders as they were when a pattern first asked for them.

    Attributes:
        names: path of a folder -> the names in it, ascending.
        facts: path of a file -> its facts, where listing its folder told them.
    """

    names: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, Stat] = field(default_factory=dict)

    def matches(self, pattern: str) -> list[str]:
        """A path as it is; of a pattern what `glob.glob(pattern, recursive=True)` finds, ascending."""
        folder, _, name = pattern.rpartition("/")
        if not has_magic(pattern):
            return [pattern]
        if not folder or folder.endswith("/") or has_magic(folder) or "**" in name:
            return matching(pattern)
        begin = _MAGIC.split(name, maxsplit=1)[0]
        ends = names_like(self._ends(folder, begin), name[len(begin) :])
        return [f"{folder}/{begin}{end}" for end in ends]

    def _ends(self, folder: str, begin: str) -> list[str]:
        """What follows the beginning of names in a folder. A hidden name counts only if its dot is asked for."""
        names = self.names.get(folder)
        if names is None:
            names = self.names[folder] = self._listed(folder)
        near = names[bisect_left(names, begin) : bisect_left(names, begin + _LAST)]
        return [name[len(begin) :] for name in near if begin.startswith(".") or not name.startswith(".")]

    def _listed(self, folder: str) -> list[str]:
        found = names_in(folder)
        self.facts.update((f"{folder}/{name}", stat) for name, stat in found.items() if stat)
        return [*found]
