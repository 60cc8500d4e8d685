"""Files of an object store for DuckDB, which has no way to them of its own here: content is fetched by the file layer."""

from __future__ import annotations

import io
from collections import OrderedDict
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from pipelines.definition.relative_paths import OBJECT_STORES, is_object_store
from pipelines.files.object_path import ObjectPath
from pipelines.files.paths import path_of
from pipelines.sources.topics.content import file_system
from pipelines.sources.topics.ranges import SCHEME, is_address

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb
    from fsspec import AbstractFileSystem

KEPT_BYTES = 2**26
"""Of files that a task reads several times: for their columns, for each of its frame sets, for their bad rows."""


def let_read(session: duckdb.DuckDBPyConnection, paths: Iterable[str]) -> None:
    """Let a session read the object stores and the topics that paths are in. Where there are none, nothing happens."""
    paths = list(paths)
    if any(map(is_object_store, paths)) and not session.filesystem_is_registered("s3"):
        session.register_filesystem(_file_system())
    if any(map(is_address, paths)) and not session.filesystem_is_registered(SCHEME):
        session.register_filesystem(file_system())


@cache
def _file_system() -> AbstractFileSystem:
    from fsspec import AbstractFileSystem

    contents = Contents()

    class Stored(AbstractFileSystem):  # type: ignore[misc]  # DuckDB takes no file system of another class
        protocol = OBJECT_STORES
        cachable = False

        def open(self, path: str, *_: object, **__: object) -> io.BytesIO | InParts:
            stat = path_of(path).stat()
            return InParts(ObjectPath(path), stat.st_size) if stat.st_size > KEPT_BYTES else io.BytesIO(contents.of(path))

        def glob(self, path: str, **_: object) -> list[str]:
            """A path stands for itself: patterns are looked up before."""
            return [path]

        def info(self, path: str, **_: object) -> dict[str, Any]:
            stat = path_of(path).stat()
            return {"name": path, "size": stat.st_size, "type": "file"}

        def exists(self, path: str, **_: object) -> bool:
            return path_of(path).is_file()

        def modified(self, path: str) -> datetime:
            return datetime.fromtimestamp(path_of(path).stat().st_mtime, UTC)

        def unstrip_protocol(self, name: str) -> str:
            return name

    return Stored()


class InParts:
    """A large file that is open for reading: each part is fetched when it is asked for, so that memory does not grow with files."""

    def __init__(self, path: ObjectPath, size: int) -> None:
        self.path, self.size, self.at = path, size, 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place; where that is."""
        self.at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence]
        return self.at

    def tell(self) -> int:
        """Where the file is read next."""
        return self.at

    def read(self, length: int = -1) -> bytes:
        """The next bytes; fewer at the end."""
        left = max(0, self.size - self.at)
        length = left if length < 0 else min(length, left)
        found = self.path.part(self.at, length) if length else b""
        self.at += len(found)
        return found

    def close(self) -> None:
        """Nothing is held."""


class Contents:
    """The contents of files that were read last, as long as the store says that they are the same."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, object, int], bytes] = OrderedDict()

    def of(self, path: str) -> bytes:
        """The content of a file.

        Raises:
            FileNotFoundError: it is gone.
        """
        stat = path_of(path).stat()
        known = (path, stat.st_ino, stat.st_mtime_ns)
        if known not in self._kept:
            self._kept[known] = path_of(path).read_bytes()
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > KEPT_BYTES:
                self._kept.popitem(last=False)
        return self._kept[known]
