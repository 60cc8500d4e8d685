"""The ledger of a published window: from which version of which batch it was derived, and what the batches closed."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Entry:
    """One batch as windows were last derived from it. Stored as a list of values in this order: new ones go to the end.

    Attributes:
        start_us: of the batch's interval.
        version: of its states.
        mark_us: the watermark after it.
        low_us, high_us: starts of its first and last frame; None without states.
        windows: how many windows it closed.
        late: how many of its rows came too late for at least one window.
        missed: how many windows its rows missed, summed over the rows.
        late_any: how many of its rows came too late for a window of any definition over the same frames.
        note: the files of the note made after it; None if no note was made.
        open_us: the earliest start of a window that is open after it; None if no window is, or the kind does not ask.
    """

    start_us: int
    version: str
    mark_us: int
    low_us: int | None
    high_us: int | None
    windows: int = 0
    late: int = 0
    missed: int = 0
    open_us: int | None = None
    late_any: int = 0
    note: Sequence[str] | None = None


_values = attrgetter(*(field.name for field in fields(Entry)))


@dataclass(frozen=True, slots=True)
class Ledger:
    """Entries in the order of the batches, and the name of the definition that windows were derived under."""

    definition: str
    entries: tuple[Entry, ...] = ()

    def by_start(self) -> dict[int, Entry]:
        """Start of a batch -> its entry."""
        return {entry.start_us: entry for entry in self.entries}

    def without(self, starts: Iterable[int]) -> Ledger:
        """The ledger without the entries of the batches that start then: they count as new."""
        left_out = set(starts)
        return replace(self, entries=tuple(entry for entry in self.entries if entry.start_us not in left_out))

    def without_note(self, paths: Sequence[str]) -> Ledger:
        """The ledger as if the note in these files had never been made."""
        lost = tuple(paths)
        entries = (replace(entry, note=None) if entry.note is not None and tuple(entry.note) == lost else entry for entry in self.entries)
        return replace(self, entries=tuple(entries))

    def dumps(self) -> str:
        """As text, for the footer of a Parquet file."""
        return json.dumps({"definition": self.definition, "entries": [_values(entry) for entry in self.entries]})

    @staticmethod
    def loads(text: str) -> Ledger:
        """From `dumps`."""
        facts = json.loads(text)
        return Ledger(facts["definition"], tuple(Entry(*values) for values in facts["entries"]))
