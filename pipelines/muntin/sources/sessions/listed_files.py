"""Listed files for DuckDB, which takes a path for a pattern wherever it holds `*`, `?` or `[`: by its address a file is read itself.

Compressed text is unpacked here, as DuckDB passes over its checksums, and over frames of zstd that are cut off.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from datetime import UTC, datetime
from functools import cache
from typing import IO, TYPE_CHECKING, Any

from muntin.definition.relative_paths import is_object_store
from muntin.sources.sessions.plain_text import is_packed, plain_texts

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

SCHEME = "listed"
UNPACKED = rf"{SCHEME}://text/"
"""What DuckDB calls a file of text by before its path."""
_MAGIC = re.compile(r"[*?[]")
_SIZES, _MOST = OrderedDict[str, int](), 1000  # address -> bytes of the content, of the files that were opened last


def address_of(path: str, *, text: bool) -> str:
    """The address by which DuckDB reads a file: its path, if DuckDB takes that for nothing else. In object stores a path is no pattern.

    >>> address_of("/data/a.csv", text=True), address_of("/data/a[1].csv", text=True), address_of("s3://bucket/a.csv.gz", text=True)
    ('/data/a.csv', 'listed:///data/a[1].csv', 'listed://text/s3://bucket/a.csv.gz')
    """
    if text and is_packed(path):
        return f"{UNPACKED}{path}"
    return f"{SCHEME}://{path}" if _MAGIC.search(path) and not is_object_store(path) else path


@cache
def file_system() -> AbstractFileSystem:
    """The file system of these addresses. DuckDB takes no file system of another class."""
    from fsspec import AbstractFileSystem

    class Listed(AbstractFileSystem):  # type: ignore[misc]  # as said
        protocol = SCHEME
        cachable = False

        def glob(self, path: str, **_: object) -> list[str]:
            """The address of a file of text; of other files the path, which DuckDB then opens itself."""
            return [path if path.startswith(UNPACKED) else path.removeprefix(f"{SCHEME}://")]

        def open(self, path: str, *_: object, **__: object) -> IO[bytes]:
            """The content of a file."""
            content, _SIZES[path] = plain_texts().opened(path.removeprefix(UNPACKED))
            if len(_SIZES) > _MOST:
                _SIZES.popitem(last=False)
            return content

        def info(self, path: str, **_: object) -> dict[str, Any]:
            """The facts of a file that is open."""
            return {"name": path, "size": _SIZES[path], "type": "file"}

        def exists(self, path: str, **_: object) -> bool:  # noqa: ARG002 - reading tells
            """Whether it can be asked for."""
            return True

        def modified(self, path: str) -> datetime:  # noqa: ARG002 - nothing is kept of it
            """When it was written, which nobody uses."""
            return datetime.fromtimestamp(0, UTC)

        def unstrip_protocol(self, name: str) -> str:
            return name

    return Listed()
