"""Files of an object store for DuckDB, which has no way to them of its own here: content is fetched by the file layer."""

from __future__ import annotations

import io
from collections import OrderedDict
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from pipelines.definition.relative_paths import OBJECT_STORES, is_object_store
from pipelines.files.paths import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb
    from fsspec import AbstractFileSystem

KEPT_BYTES = 2**26
"""Of files that a task reads several times: for their columns, for each of its frame sets, for their bad rows."""


def let_read(session: duckdb.DuckDBPyConnection, paths: Iterable[str]) -> None:
    """Let a session read the object stores that paths are in. Where there are none, nothing happens."""
    if any(map(is_object_store, paths)) and not session.filesystem_is_registered("s3"):
        session.register_filesystem(_file_system())


@cache
def _file_system() -> AbstractFileSystem:
    from fsspec import AbstractFileSystem

    contents = Contents()

    class Stored(AbstractFileSystem):  # type: ignore[misc]  # DuckDB takes no file system of another class
        protocol = OBJECT_STORES
        cachable = False

        def open(self, path: str, *_: object, **__: object) -> io.BytesIO:
            return io.BytesIO(contents.of(path))

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
