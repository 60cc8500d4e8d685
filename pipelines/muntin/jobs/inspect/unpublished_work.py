"""The work for windows that are not published: of batches that wait for a finalize, and open windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Carried, Chained
from muntin.jobs.inspect.one_key import frames_from
from muntin.store.contents import problems_of_notes
from muntin.timeline.carried import from_note
from muntin.timeline.closing import closing
from muntin.timeline.work import Work

if TYPE_CHECKING:
    from muntin.jobs.published.pending import Pending
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints


def unpublished_work(bound: Bound, todo: Pending) -> Work:
    """Batches that windows were never derived from, and, one past the last, what is open; from states that
    such windows may hold.

    `todo`: its history may end before the last published batch: windows that were open then.
    """
    batches = todo.history.batches
    positions = np.append(np.flatnonzero(~np.isin(batches.start_us, todo.published.starts)), len(batches))
    first = min(int(todo.work.positions[0]) if todo.work else len(batches), int(positions[0]))
    if isinstance(bound.windows[todo.window].follows, Carried):
        return _behind_a_note(bound, todo, positions, first)
    return Work(positions, _low_us(bound, todo, int(positions[0]), first), AFTER_ALL)


def _low_us(bound: Bound, todo: Pending, position: int, first: int) -> int:
    """The start of the first frame that windows which a batch closes, or a later one, may hold.

    `first`: the first changed batch.
    """
    kind, ledger = bound.windows[todo.window], todo.published.ledger
    if not isinstance(kind.follows, Chained):
        return frames_from(
            kind,
            bound.frames_of(todo.window).width_us,
            int(closing(kind, todo.watermarks_us).floor[position]),
        )[0]
    if ledger is None or not 0 < position <= first:
        return BEFORE_ALL
    at = int(ledger.entries.position(todo.history.batches.start_us[position - 1 : position])[0])
    return BEFORE_ALL if at < 0 else int(ledger.entries.open_us[at])


def _behind_a_note(bound: Bound, todo: Pending, positions: Ints, first: int) -> Work:
    """The work behind the last note before a batch that is whole."""
    ledger = todo.published.ledger
    while True:
        work = from_note(len(todo.history.batches), ledger, positions, first)
        if ledger is None or not problems_of_notes(bound.folder, work.note):
            return work
        ledger = ledger.without_note(work.note)
