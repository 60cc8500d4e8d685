"""Tables of a state that have lost commits, or were put back from an older copy: windows were published from
later versions of them.

states     version 5 .. 29                      then 20, from a backup
ledger     "derived from version 29"            29 is more than 20: nothing is derived until a repair has read
the batches again

Versions only grow, so that the newest segment of a ledger suffices, and nothing of the history is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from muntin.errors import StateError
from muntin.jobs.published.window_tables import newest_segment
from muntin.jobs.state.bound import Bound
from muntin.store.paths import QUARANTINE
from muntin.timeline.ledger import TableVersion


@dataclass(frozen=True, slots=True)
class LostCommits:
    """A table that was at version `had` when a window was published, and is at version `has`."""

    table: str
    window: str
    had: int
    has: int

    @property
    def problem(self) -> str:
        return (
            f"is at version {self.has}, and {self.window} was published from version {self.had}: "
            "its log has lost commits, or an older copy was put back"
        )


def table_versions(bound: Bound, window: str) -> tuple[TableVersion, ...]:
    """The tables that a window is derived from, as they are now."""
    tables = (bound.frames_of(window).table, QUARANTINE, *bound.tables_of_ids)
    now = ((table, bound.store.snapshot(table)) for table in tables)
    return tuple(
        (table, snapshot.identity, snapshot.version) for table, snapshot in now if snapshot.version >= 0
    )


def lost_commits(bound: Bound, windows: Sequence[str]) -> Iterator[LostCommits]:
    """The tables that some windows know later versions of.

    A table that was made anew has versions of its own.
    """
    for window in windows:
        ledger = newest_segment(bound.store, window)
        for table, identity, version in ledger.tables if ledger else ():
            now = bound.store.snapshot(table)
            if now.identity == identity and now.version < version:
                yield LostCommits(table, window, version, now.version)


def check_no_lost_commits(bound: Bound) -> None:
    """Refuse to derive anything from a table that has lost commits.

    One published window of each frame set is asked.
    """
    if bound.mending:
        return
    asked = (
        next((each for each in frames.windows if newest_segment(bound.store, each)), None)
        for frames in bound.frame_sets
    )
    for lost in lost_commits(bound, [window for window in asked if window]):
        raise StateError(
            f"{bound.table(lost.table)} {lost.problem}; nothing was changed. muntin doctor --mend FILE reads"
            " again what it lost"
        )
