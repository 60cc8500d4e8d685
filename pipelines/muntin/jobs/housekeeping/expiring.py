"""Which files of a table give up their old rows, and the commit that does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from muntin.store.expired_marks import marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.store.store import Change, File, Snapshot

EIGHTH = 8


class Expiring(NamedTuple):
    """A commit that takes old rows out of a table."""

    table: str
    base: Snapshot
    change: Change


def chosen_of(files: Sequence[tuple[File, int, int]], before_us: int, kept_us: int, lag: int) -> list[File]:
    """The files with old rows that go now, given the starts of the first and last batch of each: files that lie behind, or half of it."""
    old = [(file, last, (before_us - first) / max(last - first, 1)) for file, first, last in files if first < before_us]
    chosen = [file for file, last, part in old if last < before_us or part * 2 >= lag]
    oldest_us = min((first for _, first, _ in files), default=before_us)
    return chosen if oldest_us <= before_us - lag * kept_us // EIGHTH else []


def other_marks(base: Snapshot, mark: File) -> list[File]:
    """The expiry marks of a table that a new mark replaces."""
    return [file for file in marks(base.files) if file.path != mark.path]
