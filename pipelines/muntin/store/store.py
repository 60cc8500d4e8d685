"""The operations on tables that jobs need, as a protocol: a test can stop a run before and after each."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from muntin.files.paths import AnyPath


@dataclass(frozen=True, slots=True)
class File:
    """A file of a table, or a file to add to it: its path below the table, its size in bytes, its rows."""

    path: str
    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a table: its name, a description, column -> comment, property -> value
    ("": it has none).
    """

    name: str = ""
    description: str = ""
    comments: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A table at one version.

    A table that does not exist has version -1 and no files. `identity`: another one if it is made again.
    """

    version: int
    files: tuple[File, ...]
    schema: pa.Schema | None = None
    identity: str = ""
    name: str = ""
    description: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """An atomic commit: files to add, files to remove, and names that lock.

    Of two commits that start from one snapshot and share a name, or remove the same file, only one succeeds.
    `whole`: the files to add are all that the table will have, so that it takes their schema, whatever
    columns it had. `texts`: for a table that begins or is replaced. `stats`: path of a file to add -> its
    statistics for the log; the store finds them itself.
    """

    schema: pa.Schema
    adds: Sequence[File]
    removes: Sequence[File]
    names: Sequence[str]
    whole: bool = False
    texts: Texts = Texts()
    stats: Mapping[str, str] = field(default_factory=dict)


class Store(Protocol):
    """The tables of one pipeline's state under one fingerprint."""

    root: AnyPath

    def __hash__(self) -> int:
        """The hash of the store object itself: what is read of immutable files is kept beside the store."""
        ...

    def snapshot(self, table: str) -> Snapshot:
        """The table as it is now."""
        ...

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        """Change a table, all or nothing.

        Raises:
            ConflictError: another commit since `base` had one of these names, or removed one of these files.
            StateError: a file to add is gone or not whole.
        """
        ...

    def describe(self, table: str, base: Snapshot, texts: Texts) -> None:
        """Make a table say this of itself; nothing happens where it does.

        Raises:
            ConflictError: another commit came first.
        """
        ...

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        """Move files (path below the root -> path below the table) into a table's folder. Readers do not see
        them before a commit.

        Raises:
            StateError: no space, or no permission.
        """
        ...

    def discard(self, folder: str) -> None:
        """Remove a folder below the root, if it exists."""
        ...


@dataclass(slots=True)
class Count:
    """A number of bytes so far."""

    bytes: int = 0


_COUNT: ContextVar[Count | None] = ContextVar("written", default=None)


@contextmanager
def counting() -> Iterator[Count]:
    """Count the files that commits of this context add."""
    count = Count()
    before = _COUNT.set(count)
    try:
        yield count
    finally:
        _COUNT.reset(before)


def written(files: Sequence[File]) -> None:
    """Add the files of a commit to the count, if somebody counts."""
    if (count := _COUNT.get()) is not None:
        count.bytes += sum(file.size for file in files)
