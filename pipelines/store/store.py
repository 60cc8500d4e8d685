"""The store's verbs, as the jobs know them, so that a test can stop the world before and after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class File:
    """A file of a table, or one to add to it: path below the table, bytes, rows."""

    path: str
    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A table at one moment. `version` is -1 and everything empty while it does not exist."""

    version: int
    files: tuple[File, ...]
    schema: pa.Schema | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One atomic commit: files to add and to remove, and the names of what it decides about.

    Two commits that start from one snapshot and share a name cannot both succeed.
    """

    schema: pa.Schema
    adds: Sequence[File]
    removes: Sequence[File]
    names: Sequence[str]


class Store(Protocol):
    """State of one pipeline under one fingerprint."""

    root: str

    def snapshot(self, table: str) -> Snapshot:
        """What a table consists of now."""
        ...

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        """Change a table, all or nothing.

        Raises:
            ConflictError: another commit since `base` decided about one of the same names or files.
            StateError: a file to add is not there whole.
        """
        ...

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        """Move files (path below the root -> path below the table) into a table's folder; no reader sees them yet."""
        ...

    def footer(self, table: str, path: str) -> Mapping[str, str]:
        """The texts in a file's footer."""
        ...

    def discard(self, folder: str) -> None:
        """Remove a folder below the root, if it is there."""
        ...
