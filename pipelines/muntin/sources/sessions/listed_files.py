"""Files for DuckDB through file systems of ours.

DuckDB takes a path for a pattern wherever it holds `*`, `?` or `[`: by its address a file is read itself.
Text that is compressed or not in UTF-8 is made plain here: DuckDB passes over checksums, and over frames of
zstd that are cut off, and knows few encodings. It has no way to object stores of its own here: their content
is fetched by the file layer.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from typing import IO, TYPE_CHECKING, Any

from muntin.definition.relative_paths import OBJECT_STORES, is_object_store
from muntin.files.weighted_cache import WeightedCache
from muntin.sources.sessions.fetched_files import fetched
from muntin.sources.sessions.plain_text import is_plain, opened_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from duckdb import DuckDBPyConnection
    from fsspec import AbstractFileSystem

    from muntin.sources.source import Source

SCHEME = "listed"
PLAIN = rf"{SCHEME}://[^/]+/"
"""The beginning of the address of a file of text that is made plain; its path follows."""
_PLAIN = re.compile(PLAIN)
_MAGIC = re.compile(r"[*?[]")
# address -> bytes of the content, of the files that were opened last
_SIZES = WeightedCache[str, int](1000)


def encoding_of(source: Source) -> str | None:
    """How a source's files of text become plain: `Dialect.made_plain`; None where they are no text."""
    return source.dialect.made_plain if source.format in ("csv", "json") else None


def address_of(path: str, encoding: str | None) -> str:
    """The address by which DuckDB reads a file: its path, if DuckDB takes that for nothing else. In object
    stores a path is no pattern.

    `encoding`: of text; None: of other files.

    >>> (address_of("/data/a.parquet", None), address_of("/data/a[1].parquet", None),
    ... address_of("/data/a.csv.gz", "latin-1"))
    ('/data/a.parquet', 'listed:///data/a[1].parquet', 'listed://latin-1//data/a.csv.gz')
    """
    if encoding is not None and not is_plain(path, encoding):
        return f"{SCHEME}://{encoding}/{path}"
    return f"{SCHEME}://{path}" if _MAGIC.search(path) and not is_object_store(path) else path


def let_read(session: DuckDBPyConnection, source: Source, paths: Iterable[str]) -> None:
    """Let a session read the files of a source: in object stores, in topics, and all that DuckDB would not
    read as they are.
    """
    paths, encoding = list(paths), encoding_of(source)
    stored = any(map(is_object_store, paths))  # there nothing is asked before it is read
    if not session.filesystem_is_registered(SCHEME) and (
        stored or any(address_of(path, encoding) != path for path in paths)
    ):
        session.register_filesystem(_listed_files())
    if stored and not session.filesystem_is_registered("s3"):
        session.register_filesystem(_stored_files())
    for own in source.file_systems(paths):
        if not session.filesystem_is_registered(own.protocol):
            session.register_filesystem(own)


@cache
def _stored_files() -> AbstractFileSystem:
    """The file system of object stores. DuckDB takes no file system of another class."""
    from fsspec import AbstractFileSystem

    class Stored(AbstractFileSystem):  # type: ignore[misc]  # as said
        protocol = OBJECT_STORES
        cachable = False

        def open(self, path: str, *_: object, **__: object) -> Any:  # noqa: ANN401 - a file
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


@cache
def _listed_files() -> AbstractFileSystem:

    class Listed(type(_stored_files())):  # type: ignore[misc]
        protocol = SCHEME

        def glob(self, path: str, **_: object) -> list[str]:
            """The address of a file of text; of other files the path, which DuckDB then opens itself."""
            return [path if _PLAIN.match(path) else path.removeprefix(f"{SCHEME}://")]

        def open(self, path: str, *_: object, **__: object) -> IO[bytes]:
            encoding, plain = path.removeprefix(f"{SCHEME}://").split("/", 1)
            content, size = opened_text(plain, encoding)
            _SIZES.keep(path, size)
            return content

        def info(self, path: str, **_: object) -> dict[str, Any]:
            return {"name": path, "size": _SIZES.get(path), "type": "file"}

        def exists(self, path: str, **_: object) -> bool:  # noqa: ARG002 - reading tells
            return True

        def modified(self, path: str) -> datetime:  # noqa: ARG002 - nothing is kept of it
            """Required by DuckDB; constant."""
            return datetime.fromtimestamp(0, UTC)

    return Listed()
