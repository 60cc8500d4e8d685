"""Listed files for DuckDB, which takes a path for a pattern wherever it holds `*`, `?` or `[`: by its address a file is read itself."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from muntin.definition.relative_paths import is_object_store

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

SCHEME = "listed"
_MAGIC = re.compile(r"[*?[]")


def address_of(path: str) -> str:
    """The address by which DuckDB reads a file: its path, if DuckDB takes that for nothing else. In object stores a path is no pattern.

    >>> address_of("/data/a.csv"), address_of("/data/a[1].csv"), address_of("s3://bucket/a[1].csv")
    ('/data/a.csv', 'listed:///data/a[1].csv', 's3://bucket/a[1].csv')
    """
    return f"{SCHEME}://{path}" if _MAGIC.search(path) and not is_object_store(path) else path


@cache
def file_system() -> AbstractFileSystem:
    """The file system of these addresses. DuckDB takes no file system of another class."""
    from fsspec import AbstractFileSystem

    class Listed(AbstractFileSystem):  # type: ignore[misc]  # as said
        protocol = SCHEME
        cachable = False

        def glob(self, path: str, **_: object) -> list[str]:
            """The path, which DuckDB then opens itself."""
            return [path.removeprefix(f"{SCHEME}://")]

        def unstrip_protocol(self, name: str) -> str:
            return name

    return Listed()
