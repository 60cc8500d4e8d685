"""The bytes that commits add to tables, counted for whoever asks."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.store.store import File


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
