"""Reconcile: compare the ledger of the published windows with the states, and find what to recompute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.instants import AFTER_ALL
from muntin.definition.kinds import Bounded, Carried, Chained, Unending
from muntin.timeline import bounded, carried, chained
from muntin.timeline.closing import closing
from muntin.timeline.compared import Compared
from muntin.timeline.work import NOTHING, Work

if TYPE_CHECKING:
    from muntin.definition.kinds import Kind
    from muntin.states.frames import Ints
    from muntin.timeline.batches import Batches
    from muntin.timeline.ledger import Ledger


def reconcile(
    window: Kind, width_us: int, batches: Batches, watermarks_us: Ints, ledger: Ledger | None, definition: str, was: Kind | None = None
) -> Work:
    """The batches whose windows may differ from the published ones.

    Args:
        window: the kind.
        width_us: of its frames.
        batches: the history, in order.
        watermarks_us: the watermark after each batch.
        ledger: what was derived before; None if nothing.
        definition: the name of the window's present definition. A ledger under another name does not count.
        was: the kind as it was when the ledger was written, with the table of that time; None: as it is.
    """
    before = ledger if ledger and ledger.definition == definition else None
    compared = Compared(batches, watermarks_us, before.entries if before else None)
    match window.follows:
        case Carried(flushes=flushes):
            return carried.work(batches, watermarks_us, before, flushes=flushes)
        case Bounded(reach_us=reach_us):
            return bounded.work(window, reach_us, width_us, closing(window, watermarks_us), compared, was or window)
        case Chained(margin_us=margin_us):
            return chained.work(margin_us, width_us, closing(window, watermarks_us), compared)
        case Unending():  # nothing is published: the new batches alone are read, for the ledger and the types of columns
            positions = np.union1d(compared.changed, compared.moved)
            return Work(positions, AFTER_ALL, AFTER_ALL, int(positions[0])) if len(positions) else NOTHING


def open_when(window: Kind, width_us: int, watermarks_us: Ints, position: int) -> Work:
    """The states of windows that were open when a batch came; `NOTHING` where notes hold what is open.

    Args:
        window, width_us, watermarks_us: as for `reconcile`.
        position: of the batch.
    """
    is_bounded = isinstance(window.follows, Bounded)
    return bounded.still_open(window, width_us, closing(window, watermarks_us), position) if is_bounded else NOTHING
