"""The ledger of a published window: from which version of which batch it was derived, and what that gave."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Entry:
    """What one batch was when windows were last derived from it, and what it closed.

    Attributes:
        start_us: of the batch's interval.
        version: of its states.
        mark_us: the watermark after it.
        low_us, high_us: start of its first and last frame.
        windows: how many windows it closed.
        late: how many of its rows came too late for at least one window.
        missed: how many windows its rows missed, summed over the rows.
        late_any: how many of its rows came too late for a window of any definition over the same frames.
        carry: files with what windows by arrival held after it; None where that was not noted.
        open_us: the earliest start of a window left open after it; None where none was, or nobody needs to know.
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
    carry: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """Entries in the order of the batches, under the definition they were derived by."""

    definition: str
    entries: tuple[Entry, ...] = ()

    def by_start(self) -> dict[int, Entry]:
        return {entry.start_us: entry for entry in self.entries}

    def without(self, starts: Iterable[int]) -> Ledger:
        """As if nothing had been derived from the batches that start then."""
        left_out = set(starts)
        return replace(self, entries=tuple(entry for entry in self.entries if entry.start_us not in left_out))

    def without_note(self, paths: Sequence[str]) -> Ledger:
        """As if the note in these files had never been made."""
        gone = tuple(paths)
        entries = (
            replace(entry, carry=None) if entry.carry is not None and tuple(entry.carry) == gone else entry for entry in self.entries
        )
        return replace(self, entries=tuple(entries))

    def dumps(self) -> str:
        """As text, for the footer of a Parquet file."""
        return json.dumps({"definition": self.definition, "entries": [list(asdict(entry).values()) for entry in self.entries]})

    @staticmethod
    def loads(text: str) -> Ledger:
        facts = json.loads(text)
        return Ledger(facts["definition"], tuple(Entry(*values) for values in facts["entries"]))
