"""Reconcile: compare the ledger of the published windows with the states, and find what to recompute.

Windows whose neighbours decide where they begin: a change may reach on along a chain of open windows.

    changed frames    [low .. high]
    reach                     ......until        a window over a changed frame ends before `until`
    batches           first       quiet   stop   `quiet`: the first that closes all windows before `until`
    open windows                    ===== |      `stop`: the first from there on behind which no window
                                                 is open that began before `until`

The windows of the batches first..stop are derived anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Bounded, Carried, Chained, Kind, Unending
from muntin.states.frames import NO_INTS, Ints
from muntin.timeline.batches import Batches
from muntin.timeline.carried import carried_work
from muntin.timeline.closing import Closing, Compared, Span, closing
from muntin.timeline.history import NOTHING, Work
from muntin.timeline.ledger import Entries, Ledger

LONG_OPEN = 16  # a note is worth reading where a window has been open for more than so many margins


def chained_work(margin_us: int, width_us: int, when: Closing, compared: Compared) -> Work:
    """The batches from the first change on, as far as open windows carry it; and the states to read."""
    positions = (
        np.arange(len(compared.batches))
        if compared.entries is None
        else np.arange(*_touched_chains(margin_us, width_us, when, compared))
    )
    if not len(positions):
        return NOTHING
    if positions[0] == 0:
        return Work(positions, BEFORE_ALL, AFTER_ALL, notes_after=(int(positions[-1]),))
    return _from_open(margin_us, width_us, positions, when, compared)


def _touched_chains(margin_us: int, width_us: int, when: Closing, compared: Compared) -> tuple[int, int]:
    """The batches whose windows a change may touch; all from the first change on where batches are new."""
    changed, moved, end = compared.changed, compared.moved, len(compared.batches)
    if compared.entries is None or not len(changed) + len(moved):
        return 0, 0
    first = min(
        [*changed[:1].tolist(), *moved[:1].tolist(), *(first for first, _ in compared.revised(when, 1))]
    )
    if len(moved) or (compared.entry < 0).any():
        return first, end
    until = max(
        (high + width_us + margin_us for _, (_, high) in compared.changed_spans()), default=BEFORE_ALL
    )
    quiet = max(int(changed[-1]), int(when.batch_of(np.array([until]))[0]))
    closed = compared.entries.open_us[compared.entry[quiet:]] > until
    if when.lateness_us:  # a late row behind the stop could join what changed to a window that closes later
        closed &= _low_behind(compared.batches, when)[quiet:] > until
    return first, quiet + int(np.argmax(closed)) + 1 if closed.any() else end


def _low_behind(batches: Batches, when: Closing) -> Ints:
    """For each batch an instant before all states that count, of the batches behind it."""
    low_us = np.append(np.maximum(batches.low_us, when.final[:-1]), AFTER_ALL)
    return np.minimum.accumulate(low_us[::-1])[::-1][1:]  # type: ignore[no-any-return]


def _from_open(margin_us: int, width_us: int, positions: Ints, when: Closing, compared: Compared) -> Work:
    """The work for some batches, from the windows that were open before the first of them, or before the
    first whose windows their rows revise.

    Windows that have been open for long are read from the note, where one state stands for all old ones. That
    works only if no new state is older. Otherwise all states are read since the earliest start of an open
    window.
    """
    later, last = np.arange(positions[0], len(compared.batches)), int(positions[-1])
    first = int(when.first_revised(later, compared.batches.low_us[later] + 1, when.final[later]).min())
    if not first:
        return Work(positions, BEFORE_ALL, AFTER_ALL, notes_after=(last,))
    at, entries = int(compared.entry[first - 1]), cast("Entries", compared.entries)
    open_us, note, lowest = (
        int(entries.open_us[at]),
        entries.note_of(at),
        int(compared.batches.low_us[first:].min(initial=AFTER_ALL)),
    )
    long_open = open_us < AFTER_ALL and int(entries.watermark_us[at]) - open_us > LONG_OPEN * margin_us
    if long_open and note is not None and lowest >= settled_us(margin_us, when, first):
        return Work(positions, AFTER_ALL, AFTER_ALL, first, note, (last,))
    low = AFTER_ALL if open_us == AFTER_ALL else open_us // width_us * width_us
    return Work(positions, low, AFTER_ALL, first, notes_after=(last,))


def settled_us(margin_us: int, when: Closing, position: int) -> int:
    """The instant before which only a late state of this batch can fall.

    The note made before the batch combines the states of a window before this instant to one.
    """
    return int(when.floor[position]) - margin_us


def bounded_work(
    window: Kind, reach_us: int, width_us: int, when: Closing, compared: Compared, was: Kind
) -> Work:
    """The batches that close a touched window, and the stretch of time whose states their windows hold.

    `was`: the kind as it was when windows were published, with the table of that time.
    """
    if compared.entries is None:
        positions = np.arange(len(compared.batches))
    else:
        positions = np.union1d(
            _touched(window, reach_us, when, compared), _elsewhere(window, was, when, compared)
        )
    if not len(positions):
        return NOTHING
    first = int(positions[0])
    until_us = int(when.floor[positions[-1] + 1])
    return Work(
        positions,
        _first_read(window, width_us, int(when.floor[first]), until_us),
        until_us + window.inside_us,
        first,
    )


def still_open_work(window: Kind, width_us: int, when: Closing, position: int) -> Work:
    """The states of all windows that were not final when a batch came, whenever they end."""
    return Work(
        np.array([position]),
        _first_read(window, width_us, int(when.final[position]), AFTER_ALL),
        AFTER_ALL,
        position,
    )


def _first_read(window: Kind, width_us: int, after_us: int, until_us: int) -> int:
    """The start, or less, of the first frame of windows that end in a stretch; about `AFTER_ALL` if none."""
    return window.earliest(after_us, until_us) - width_us + 1 if after_us > BEFORE_ALL else BEFORE_ALL


def _touched(window: Kind, reach_us: int, when: Closing, compared: Compared) -> Ints:
    """The batches that changed or moved, or close a window over a changed frame; ascending."""
    spans, final = compared.spans(when), compared.final(when)
    closing_batches = [
        _closing(window, reach_us, when, span, at, int(final[at])) for at, span in spans.items()
    ]
    return np.unique(np.concatenate([compared.moved, compared.changed, *closing_batches]))


def _elsewhere(window: Kind, was: Kind, when: Closing, compared: Compared) -> Ints:
    """The batches that close a moved window, or have states that came too late for a moved window."""
    starts, ends = window.apart_from(was)
    if not len(ends):
        return starts
    closed, batches, floor = when.batch_of(ends), compared.batches, when.floor
    late = np.flatnonzero(batches.low_us < floor[:-1])
    spans = ((at, batches.low_us[at], batches.high_us[at], floor[at]) for at in late.tolist())
    missing = [
        at
        for at, low, high, closed_to in spans
        if np.any((starts <= high) & (ends > low) & (ends <= closed_to))
    ]
    return np.union1d(closed[closed < len(batches)], np.array(missing, np.int64))


def _closing(window: Kind, reach_us: int, when: Closing, span: Span, at: int, final_us: int) -> Ints:
    """The batches that close a window over the frames of `span` that was not final when batch `at` came."""
    still_open = max(span[0], final_us)
    if still_open > span[1] + reach_us:
        return NO_INTS
    batches = window.batches_closing(when, still_open, span[1])
    first = when.first_revised(np.array([at]), np.array([span[0]]), np.array([final_us]))
    return batches[(batches >= first) & (batches < len(when.watermarks_us))]


def reconcile(
    window: Kind,
    width_us: int,
    batches: Batches,
    watermarks_us: Ints,
    ledger: Ledger | None,
    definition: str,
    was: Kind | None = None,
) -> Work:
    """The batches whose windows may differ from the published ones.

    `window`: the kind. `width_us`: of its frames. `batches`: the history, in order. `watermarks_us`: the
    watermark after each batch. `ledger`: what was derived before; None if nothing. `definition`: the name of
    the window's present definition. A ledger under another name does not count. `was`: the kind when the
    ledger was written, with the table of that time; None: the same kind.
    """
    before = ledger if ledger and ledger.definition == definition else None
    compared = Compared(batches, watermarks_us, before.entries if before else None)
    when = closing(window, watermarks_us)
    match window.follows:
        case Carried(flushes=flushes):
            revised = compared.revised(when)
            work = carried_work(batches, watermarks_us, before, flushes=flushes, revised=revised)
        case Bounded(reach_us=reach_us):
            work = bounded_work(window, reach_us, width_us, when, compared, was or window)
        case Chained(margin_us=margin_us):
            work = chained_work(margin_us, width_us, when, compared)
        case Unending():  # nothing is published: new batches are read for the ledger and the columns' types
            positions = np.union1d(compared.changed, compared.moved)
            work = Work(positions, AFTER_ALL, AFTER_ALL, int(positions[0])) if len(positions) else NOTHING
    return replace(work, counts=when.counts)


def open_when(window: Kind, width_us: int, watermarks_us: Ints, position: int) -> Work:
    """The states of windows that were open when a batch came; `NOTHING` where notes hold what is open.

    `window`, `width_us`, `watermarks_us`: as for `reconcile`. `position`: of the batch.
    """
    is_bounded = isinstance(window.follows, Bounded)
    return (
        still_open_work(window, width_us, closing(window, watermarks_us), position) if is_bounded else NOTHING
    )
