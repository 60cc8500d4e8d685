"""Where the tables of windows lie, what is published in them, and how a state stands to them.

<root>/<pipeline>/windows/<window>                 the live table, whatever the definition
<root>/<pipeline>/<fingerprint>/windows/<window>   the candidate: windows of another definition, until they
are complete
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from muntin.files.paths import AnyPath
from muntin.jobs.published.ledger_segments import (
    Segment,
    read_ledger,
    read_segment,
    segments_of,
    write_segment,
)
from muntin.jobs.state.bound import Bound
from muntin.states.frames import NO_INTS, Ints
from muntin.store.delta import DeltaStore
from muntin.store.paths import folder_of
from muntin.store.seen_tables import snapshot_at
from muntin.store.state import WINDOWS
from muntin.store.store import Change, Snapshot, Store
from muntin.timeline.ledger import Ledger

Standing = Literal["current", "superseded", "candidate"]
_CURRENT, _CANDIDATE = f"../{WINDOWS}", WINDOWS  # below the state


@dataclass(frozen=True, slots=True)
class Published:
    """The published windows of one name.

    Attributes:
        table: its table, below the state.
        snapshot: of the table.
        segments: of its ledger, oldest first.
        ledger: None if nothing is published.
    """

    table: str
    snapshot: Snapshot
    segments: tuple[Segment, ...]
    ledger: Ledger | None

    @property
    def head(self) -> str | None:
        """The path of the newest segment: it names the whole published state.

        None if nothing is published.
        """
        return self.segments[-1].file.path if self.segments else None

    @property
    def starts(self) -> Ints:
        return self.ledger.entries.start_us if self.ledger else NO_INTS

    @property
    def number(self) -> int:
        """The number of the newest segment; 0 without segments."""
        return self.segments[-1].number if self.segments else 0


def published(store: Store, window: str) -> Published:
    """This state's windows: the live table if it owns it, else its candidate."""
    readers = current(store, window)
    if readers.ledger and readers.ledger.state == store.root.name:
        return readers
    own = candidate(store, window)
    return own if readers.ledger or own.ledger else readers


def newest_segment(store: Store, window: str) -> Ledger | None:
    """The newest segment of the ledger of this state's windows, without older entries.

    None if nothing is published.
    """
    for place in (_CURRENT, _CANDIDATE):
        table = f"{place}/{window}"
        if segments := segments_of(store.snapshot(table).files):
            ledger = read_segment(f"{folder_of(store.root, table)}/{segments[-1].file.path}")
            if ledger.state == store.root.name:
                return ledger
    return None


def current(store: Store, window: str) -> Published:
    """The windows in the live table, whichever state made them."""
    return _published(store, f"{_CURRENT}/{window}")


def candidate(store: Store, window: str) -> Published:
    """The windows in the candidate table of this state."""
    return _published(store, f"{_CANDIDATE}/{window}")


def is_of_windows(table: str) -> bool:
    """Whether a table below a state holds windows."""
    return table.startswith((f"{_CURRENT}/", f"{_CANDIDATE}/"))


def windows_of(store: Store) -> list[str]:
    """The names of the windows that a state has published, ascending."""
    state = store.root
    names = {
        log.parent.name
        for folder in (state.parent / WINDOWS, state / WINDOWS)
        for log in folder.glob("*/_delta_log")
    }
    return sorted(name for name in names if published(store, name).ledger)


def table_of(bound: Bound, window: str) -> AnyPath:
    """The path of the table that a definition publishes a window in."""
    return bound.table(published(bound.store, window).table)


def commit_segment(bound: Bound, window: str, now: Published, ledger: Ledger) -> None:
    """Add a segment to the ledger of a window: what is staged for the window by now is stale then. Nothing
    where nothing is published.

    ConflictError if another run published meanwhile.
    """
    if now.snapshot.schema is not None:
        segment = write_segment(bound.table(now.table), now.snapshot.schema, now.number + 1, ledger)
        bound.store.commit(
            now.table,
            now.snapshot,
            Change(now.snapshot.schema, [segment], [], [f"{bound.pipeline.name}/{window}"]),
        )


def as_of(store: Store, table: str, version: int) -> Published:
    """The windows of a table at a version; StateError if the log does not know the version any more, or files
    of it are removed.
    """
    return _of(store, table, snapshot_at(folder_of(store.root, table), version))


def _published(store: Store, table: str) -> Published:
    return _of(store, table, store.snapshot(table))


def _of(store: Store, table: str, snapshot: Snapshot) -> Published:
    segments = segments_of(snapshot.files)
    ledger = read_ledger(folder_of(store.root, table), tuple(segment.file.path for segment in segments))
    return Published(table, snapshot, segments, ledger)


def standing(state: AnyPath) -> Standing:
    """How a state stands to the live windows."""
    store = DeltaStore(state)
    tables = sorted(log.parent.name for log in (state.parent / WINDOWS).glob("*/_delta_log"))
    ledgers = [ledger for name in tables if (ledger := current(store, name).ledger)]
    if not ledgers or any(ledger.state == state.name for ledger in ledgers):
        return "current"
    before = {each.derivation.state for ledger in ledgers for each in ledger.superseded}
    return "superseded" if state.name in before else "candidate"
