"""A path on the simulated disk: as much of `pathlib.Path` as the jobs use."""

import io
import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache, total_ordering
from types import SimpleNamespace

from tests.simulation.disk import at_hand


@total_ordering
class Place:
    __slots__ = ("path",)

    def __init__(self, *parts: object) -> None:
        self.path = "/".join(map(str, parts)) if len(parts) > 1 else str(parts[0])

    def __str__(self) -> str:
        return self.path

    __repr__ = __fspath__ = __str__

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)

    def __lt__(self, other: object) -> bool:
        return str(self) < str(other)

    def __hash__(self) -> int:
        return hash(self.path)

    def __truediv__(self, part: object) -> "Place":
        return Place(self.path, part)

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def suffix(self) -> str:
        return posixpath.splitext(self.path)[1]

    @property
    def parent(self) -> "Place":
        return Place(posixpath.dirname(self.path))

    def absolute(self) -> "Place":
        return self

    def relative_to(self, folder: object) -> "Place":
        return Place(self.path.removeprefix(f"{folder}/"))

    def is_file(self) -> bool:
        return self.path in at_hand.disk.files

    def is_dir(self) -> bool:
        above = f"{self.path}/"
        return any(path.startswith(above) for path in at_hand.disk.files)

    def exists(self) -> bool:
        return self.is_file() or self.is_dir()

    def stat(self) -> SimpleNamespace:
        if self.is_dir():
            return SimpleNamespace(st_size=0, st_mtime=0)
        content = self.read_bytes()
        return SimpleNamespace(st_size=len(content), st_mtime=at_hand.disk.files[self.path].at_s)

    def open(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self.read_bytes())

    def read_bytes(self) -> bytes:
        return at_hand.disk.read(self.path)

    def read_text(self, encoding: str) -> str:
        return self.read_bytes().decode(encoding)

    def mkdir(self, **_how: bool) -> None:
        """Folders are there with their files."""

    def unlink(self, *, missing_ok: bool) -> None:  # noqa: ARG002 - a missing file is none
        at_hand.disk.remove(self.path)

    def iterdir(self) -> Iterator["Place"]:
        return self.glob("*")

    def rglob(self, pattern: str) -> Iterator["Place"]:
        return self.glob(f"**/{pattern}")

    def glob(self, pattern: str) -> Iterator["Place"]:
        names, files = _compiled(pattern.rstrip("/")), [] if pattern.endswith("/") else at_hand.disk.below(self.path)
        found = {*files, *at_hand.disk.folders(self.path)}
        return (Place(path) for path in sorted(found) if names.fullmatch(path[len(self.path) + 1 :]))


@lru_cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*"))
