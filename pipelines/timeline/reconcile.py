"""Reconcile, don't replay: compare what windows were derived from with what there is, and find what to recompute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipelines.timeline.carry import carried_on, from_open
from pipelines.timeline.closing import NEVER, closing
from pipelines.timeline.work import FOREVER, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.timeline.closing import Closing
    from pipelines.timeline.history import Batch
    from pipelines.timeline.ledger import Entry, Ledger
    from pipelines.windows.kind import Ints, Window


def reconcile(window: Window, width_us: int, batches: Sequence[Batch], marks: Ints, ledger: Ledger | None, definition: str) -> Work:
    """The batches whose windows may differ from what was published.

    Args:
        window: its definition.
        width_us: of its frames.
        batches: the history, in order.
        marks: the watermark after each of them.
        ledger: what was derived before; None if nothing.
        definition: names what the window is now; under another one everything is derived anew.
    """
    if window.carries:
        return carried_on(window, batches, ledger if ledger and ledger.definition == definition else None)
    when = closing(window, marks)
    if ledger is None or ledger.definition != definition:
        return _work(window, width_us, range(len(batches)), when, {}, batches)
    before = ledger.by_start()
    changed = [at for at, batch in enumerate(batches) if _version(before, batch) != batch.version]
    moved = _moved(batches, marks, ledger)
    if window.reach_us is None:
        touched = _touched_chains(window, width_us, batches, when, before, changed, moved)
    else:
        spans = _late_otherwise(window, batches, when, ledger) | {at: _frames(before, batches[at]) for at in changed}
        touched = moved.union(*(_touched_grid(window, len(batches), when, span, at) for at, span in spans.items() if span))
    return _work(window, width_us, sorted(touched.union(changed)), when, before, batches)


def _version(before: dict[int, Entry], batch: Batch) -> str | None:
    entry = before.get(batch.interval.start_us)
    return entry.version if entry else None


def _moved(batches: Sequence[Batch], marks: Ints, ledger: Ledger) -> set[int]:
    """Batches for which the stretch of time that they close is another one than before."""
    old, previous = {}, NEVER
    for entry in ledger.entries:
        old[entry.start_us] = (previous, entry.mark_us)
        previous = entry.mark_us
    now = [NEVER, *marks.tolist()]
    return {at for at, batch in enumerate(batches) if old.get(batch.interval.start_us) not in (None, (now[at], now[at + 1]))}


def _frames(before: dict[int, Entry], batch: Batch) -> tuple[int, int] | None:
    """First and last frame of a batch, old and new states together."""
    entry = before.get(batch.interval.start_us)
    known = [(batch.low_us, batch.high_us)] + ([(entry.low_us, entry.high_us)] if entry else [])
    ranges = [(low, high) for low, high in known if low is not None and high is not None]
    return (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None


def _late_otherwise(window: Window, batches: Sequence[Batch], when: Closing, ledger: Ledger) -> dict[int, tuple[int, int]]:
    """Batches, and their frames, whose states are late where they were not, or the other way round.

    The windows hold the same states all the same; but a late state is combined after the others, and floats show it.
    """
    entries = {entry.start_us: entry for entry in ledger.entries}
    old = dict(zip(entries, closing(window, np.array([entry.mark_us for entry in ledger.entries])).floor.tolist(), strict=False))
    spans = {}
    for at, batch in enumerate(batches):
        was, now = old.get(batch.interval.start_us), int(when.floor[at])
        frames = _frames(entries, batch)
        if was is not None and was != now and frames and frames[0] < max(was, now):
            spans[at] = (frames[0], min(frames[1], max(was, now)))
    return spans


def _touched_grid(window: Window, count: int, when: Closing, frames: tuple[int, int], at: int) -> set[int]:
    """The batches that close a window over these frames which was open when batch `at` came."""
    still_open = max(frames[0], int(when.floor[at]))
    if window.reach_us is None or still_open > frames[1] + window.reach_us:
        return set()
    first, last = when.batch_of(np.array(window.ends(still_open, frames[1])))
    return set(range(max(int(first), at), min(int(last) + 1, count)))


def _touched_chains(
    window: Window, width_us: int, batches: Sequence[Batch], when: Closing, before: dict[int, Entry], changed: list[int], moved: set[int]
) -> set[int]:
    """From the first change on, until no chain left open reaches back to a changed frame."""
    if not changed and not moved:
        return set()
    first = min([*changed, *moved])
    if moved or any(batch.interval.start_us not in before for batch in batches):
        return set(range(first, len(batches)))
    ranges = [frames for at in changed if (frames := _frames(before, batches[at]))]
    until = max((high + width_us + window.margin_us for _, high in ranges), default=NEVER)
    quiet = max(changed[-1], int(when.batch_of(np.array([until]))[0]))
    for at in range(quiet, len(batches)):
        opened = before[batches[at].interval.start_us].open_us
        if opened is None or opened > until:
            return set(range(first, at + 1))
    return set(range(first, len(batches)))


def _work(
    window: Window, width_us: int, positions: Sequence[int], when: Closing, before: dict[int, Entry], batches: Sequence[Batch]
) -> Work:
    if not positions:
        return Work((), FOREVER, FOREVER)
    first, last = positions[0], positions[-1]
    high = int(when.floor[last + 1]) + window.inside_us if window.reach_us is not None else FOREVER
    if first == 0:
        return Work(tuple(positions), NEVER, high, snaps=(last,) if window.reach_us is None else ())
    if window.reach_us is not None:
        return Work(tuple(positions), int(when.floor[first]) - window.reach_us - width_us, high, first)
    return from_open(window, width_us, positions, when, before[batches[first - 1].interval.start_us], batches)
