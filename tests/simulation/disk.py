"""A disk in memory: bytes under paths, with the time of a simulated clock."""

import errno
import os.path
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

DAY_S = 86_400


@dataclass(slots=True)
class Clock:
    """Seconds since 1970. Only steps of the world move it."""

    now_s: int = 1_704_067_200


@dataclass(frozen=True, slots=True)
class Stored:
    """A file: its bytes, and when it was written."""

    content: bytes
    at_s: int


@dataclass(slots=True)
class Disk:
    """Path -> file. A folder exists if a file lies below it. `removed`: what was deleted, for the laws."""

    clock: Clock = field(default_factory=Clock)
    files: dict[str, Stored] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)

    def copy(self) -> "Disk":
        """Another one with the same files, at the same time. What was removed before is looked at where it was."""
        return Disk(Clock(self.clock.now_s), dict(self.files))

    def write(self, path: str, content: bytes) -> None:
        self.files[path] = Stored(content, self.clock.now_s)

    def read(self, path: str) -> bytes:
        try:
            return self.files[path].content
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "No such file", path) from None

    def touch(self, path: str) -> None:
        self.write(path, self.read(path))

    def remove(self, path: str) -> None:
        self.files.pop(path, None)
        self.removed.append(path)

    def move(self, source: str, target: str) -> None:
        self.files[target] = self.files.pop(source)

    def below(self, folder: str) -> list[str]:
        above = f"{folder}/"
        return sorted([path for path in self.files if path.startswith(above)])

    def folders(self, folder: str) -> Iterator[str]:
        """The folders below a folder, ascending."""
        found = {folder}
        for path in self.below(folder):
            above = os.path.dirname(path)  # noqa: PTH120 - no path of the real disk
            while above not in found:
                found.add(above)
                above = os.path.dirname(above)  # noqa: PTH120
        return iter(sorted(found - {folder}))


class AtHand:
    """The disk of the world that is being lived, and its tables: seams in the jobs look here."""

    disk = Disk()
    tables: Any = None
    numbers: Iterator[int]
    contents: dict[tuple[int, int], list[Any]]
    """(start of a batch, version of its states) -> the rows in them."""


at_hand = AtHand()
