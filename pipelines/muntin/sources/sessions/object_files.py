"""Files of an object store for DuckDB, which has no way to them of its own here: content is fetched by the
file layer.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from muntin.definition.relative_paths import OBJECT_STORES, is_object_store
from muntin.sources.sessions import listed_files
from muntin.sources.sessions.fetched_files import fetched
from muntin.sources.sessions.listed_files import address_of, encoding_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb
    from fsspec import AbstractFileSystem

    from muntin.sources.sessions.fetched_files import InParts
    from muntin.sources.source import Source


def let_read(session: duckdb.DuckDBPyConnection, source: Source, paths: Iterable[str]) -> None:
    """Let a session read the files of a source: in object stores, in topics, and all that DuckDB would not
    read as they are.
    """
    paths, encoding = list(paths), encoding_of(source)
    stored = any(map(is_object_store, paths))  # there nothing is asked before it is read
    if not session.filesystem_is_registered(listed_files.SCHEME) and (
        stored or any(address_of(path, encoding) != path for path in paths)
    ):
        session.register_filesystem(listed_files.file_system())
    if stored and not session.filesystem_is_registered("s3"):
        session.register_filesystem(_file_system())
    for own in source.file_systems(paths):
        if not session.filesystem_is_registered(own.protocol):
            session.register_filesystem(own)


@cache
def _file_system() -> AbstractFileSystem:
    from fsspec import AbstractFileSystem

    class Stored(AbstractFileSystem):  # type: ignore[misc]  # DuckDB takes no file system of another class
        protocol = OBJECT_STORES
        cachable = False

        def open(self, path: str, *_: object, **__: object) -> InParts:
            return fetched().opened(path)

        def glob(self, path: str, **_: object) -> list[str]:
            """A path stands for itself: patterns are resolved before."""
            return [path]

        def info(self, path: str, **_: object) -> dict[str, Any]:
            return {"name": path, "size": fetched().stat(path).st_size, "type": "file"}

        def exists(self, path: str, **_: object) -> bool:
            try:
                fetched().stat(path)
            except FileNotFoundError:
                return False
            return True

        def modified(self, path: str) -> datetime:
            return datetime.fromtimestamp(fetched().stat(path).st_mtime, UTC)

        def unstrip_protocol(self, name: str) -> str:
            return name

    return Stored()
