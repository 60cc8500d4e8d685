"""The operations on tables that jobs need, as a protocol: a test can stop a run before and after each.

Trying again after somebody else came first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

import numpy as np
import pyarrow as pa
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from muntin.errors import ConflictError
from muntin.files.paths import AnyPath
from muntin.states.frames import Ints
from muntin.states.keys import scattered

_FIRST_S, _LONGEST_S = 0.02, 2.0


def again_after(
    met: type[Exception],
    tries: int,
    given_up: Callable[[BaseException | None], Exception],
    *,
    first_s: float = _FIRST_S,
) -> Retrying:
    """Attempts, as tenacity has them, until one does not raise `met`.

    Between two lies a random time, twice as long on average at each: runs that met once do not meet again and
    again (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). `met`: the error after
    which to try again. `tries`: the largest number of attempts. `given_up`: makes the error to raise, of the
    last `met`. `first_s`: seconds; the longest first wait.
    """

    def give_up(state: RetryCallState) -> NoReturn:
        last = state.outcome.exception() if state.outcome else None
        raise given_up(last) from last

    return Retrying(
        stop=stop_after_attempt(tries),
        wait=wait_random_exponential(multiplier=first_s, max=_LONGEST_S),
        retry=retry_if_exception_type(met),
        retry_error_callback=give_up,
    )


def after_conflicts(tries: int, given_up: str) -> Retrying:
    """Attempts, until one meets no ConflictError. After the last a ConflictError says `given_up`."""
    return again_after(ConflictError, tries, lambda _: ConflictError(given_up))


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

    def snapshot(self, table: str) -> Snapshot:
        """The table as it is now."""

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        """Change a table, all or nothing."""

    def describe(self, table: str, base: Snapshot, texts: Texts) -> None:
        """Make a table say this of itself; nothing happens where it does."""

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        """Move files (path below the root -> path below the table) into a table's folder. Readers do not see
        them before a commit.
        """

    def discard(self, folder: str) -> None:
        """Remove a folder below the root, if it exists."""


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


_LOCKS = 64  # few enough for the log of a table to keep for ever


def locks(starts: Ints) -> list[str]:
    """The names that lock these batches: of two commits that replace a batch, from one snapshot of a table,
    one succeeds. Two batches may share a name.
    """
    return [f"batch/{number}" for number in np.unique(scattered(starts) % np.uint64(_LOCKS)).tolist()]


def every_lock() -> list[str]:
    """The names that lock all batches."""
    return [f"batch/{number}" for number in range(_LOCKS)]
