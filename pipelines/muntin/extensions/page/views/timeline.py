"""The timeline of a window: batches, and above them the windows of one key.

windows      |=========|          closed by the batch below their end, and by a later one under a grace
                  |=========|
                       |:::::::::|       staged: a suite holds it, or the next run publishes it
                            |/////////|  open
batches      |----|----|-!--|....|xxxx|  ! late rows   .... missing   xxxx failed
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from muntin.definition.instants import AFTER_ALL as OPEN
from muntin.definition.instants import from_us
from muntin.definition.kinds import Bounded, Chained
from muntin.extensions.page.views.seen import Key, Seen
from muntin.extensions.page.views.trends import ListedBatch, listed_batches, with_counts, with_states
from muntin.jobs.inspect.one_key import combined_of_key, frames_from, one_row_each, rows_of_key
from muntin.jobs.inspect.some_windows import Asked, some_windows
from muntin.jobs.published.pending import Pending, pending_window
from muntin.jobs.records.batch_status import BatchStates
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BATCH
from muntin.states.frames import Ints, is_among
from muntin.states.sorted import instants
from muntin.timeline.closing import closing

BATCHES = 24
MOST = 500
"""So many windows are read for a picture."""
LANES = 16
Span = tuple[int, int, int | None, bool]
"""Start and end of a window, the batch that closed it, and whether it is closed and not published."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A window; instants in microseconds.

    `closed_us`: start of the batch that closed it; None: it is open. `lane`: its row, from below. `staged`:
    whether it is closed and not published.
    """

    start_us: int
    end_us: int
    closed_us: int | None
    lane: int
    staged: bool = False


@dataclass(frozen=True, slots=True)
class Timeline:
    """A stretch of time.

    Attributes:
        window: its name.
        key: of the windows; None: there is no window.
        batches: ascending.
        bars: the windows of the key.
        left_out: how many windows have no room.
        earlier, later: number of the last batch of the stretch before and after; None: there is none.
    """

    window: str
    key: Key | None
    batches: tuple[ListedBatch, ...]
    bars: tuple[Bar, ...]
    left_out: int
    earlier: int | None
    later: int | None

    @property
    def low_us(self) -> int:
        """The start of the timeline: its first window, but no further away than the batches are long."""
        first, length = self.batches[0].start_us, self.batches[-1].end_us - self.batches[0].start_us
        return max(first - length, min([first, *(bar.start_us for bar in self.bars)]))

    @property
    def least_us(self) -> int:
        """The least length of a window in the picture, as a session of one event has no length."""
        return (self.high_us - self.low_us) // 400

    @property
    def high_us(self) -> int:
        last, length = self.batches[-1].end_us, self.batches[-1].end_us - self.batches[0].start_us
        return min(last + length, max([last, *(bar.end_us for bar in self.bars)]))


def timeline(
    at: Seen,
    window: str,
    key: Key | None,
    states: BatchStates,
    *,
    count: int = BATCHES,
    end: int | None = None,
) -> Timeline:
    """The timeline of a key. `end`: number of the last batch plus one; None: up to the newest."""
    bound = one_row_each(at.bound, window)
    todo = pending_window(bound, window)
    every = listed_batches(todo, states)
    end = len(every) if end is None else max(1, min(end, len(every)))
    first = max(0, end - count)
    some = with_counts(todo, with_states(every[first:end], states))
    spans = _spans(bound, todo, key, some) if key is not None and some else []
    bars, left_out = in_lanes(spans)
    earlier, later = first or None, min(end + count, len(every)) if end < len(every) else None
    return Timeline(window, key, tuple(some), tuple(bars), left_out, earlier, later)


def number_at(at: Seen, window: str, states: BatchStates, until_us: int) -> int:
    """How many batches end at or before an instant: the `end` of a timeline up to there."""
    return sum(1 for _, end in listed_batches(pending_window(at.bound, window), states) if end <= until_us)


def _spans(bound: Bound, todo: Pending, key: Key, some: Sequence[ListedBatch]) -> list[Span]:
    """The windows that touch the batches."""
    low, high = some[0].start_us, some[-1].end_us
    asked = Asked(dict(zip(bound.keys_of(todo.window), key, strict=True)), from_us(low), from_us(high))
    rows = some_windows(bound, todo.window, asked, limit=MOST).rows
    columns = (
        (instants(rows[name]).tolist() for name in ("window_start", "window_end", BATCH))
        if len(rows)
        else ((), (), ())
    )
    closed: set[Span] = {(*each, False) for each in zip(*columns, strict=True)}
    closed_spans = {each[:2] for each in closed}
    unpublished = np.setdiff1d(todo.history.batches.start_us, todo.published.starts)
    still = (
        _unpublished(bound, todo, key, low, unpublished)
        if len(unpublished) or may_be_open(bound, todo, high)
        else ()
    )
    more = (each for each in still if each[0] < high and each[1] > low and each[:2] not in closed_spans)
    return sorted({*closed, *more}, key=lambda span: span[:2])


def may_be_open(bound: Bound, todo: Pending, high_us: int) -> bool:
    """Whether a window that begins before an instant may be open.

    The ledger and the watermark tell, without reading states.
    """
    kind, ledger = bound.windows[todo.window], todo.published.ledger
    if isinstance(kind.follows, Bounded) and len(todo.watermarks_us):
        return high_us > int(closing(kind, todo.watermarks_us).floor[-1]) - kind.follows.longest_us
    # all is published, under this definition
    if isinstance(kind.follows, Chained) and ledger and not todo.work:
        return high_us > int(ledger.entries.open_us[-1])
    return True


def _unpublished(bound: Bound, todo: Pending, key: Key, low_us: int, unpublished: Ints) -> Iterable[Span]:
    """The windows of a key that no batch of the history closes, or an unpublished batch; without hidden
    windows.
    """
    kind = bound.windows[todo.window]
    starts = np.append(todo.history.batches.start_us, OPEN)
    within = frames_from(kind, bound.frames_of(todo.window).width_us, low_us)
    for one in combined_of_key(bound, todo, key, within):
        closed_by = starts[np.minimum(one.closed, len(starts) - 1)]
        own = is_among(closed_by, np.append(unpublished, OPEN))
        own &= rows_of_key(one.windows, bound.keys_of(todo.window), key)
        own &= True if one.shown is None else one.shown
        columns = (one.assignment.start[own], one.assignment.end[own], closed_by[own])
        for start, end, by in zip(*(column.tolist() for column in columns), strict=True):
            yield start, end, None if by == OPEN else by, by != OPEN


def in_lanes(spans: Sequence[Span]) -> tuple[list[Bar], int]:
    """The lowest free lane for each window, by start; and the number of windows without a lane.

    >>> spans = [(0, 2, None, False), (1, 3, None, False), (2, 4, None, False)]
    >>> [bar.lane for bar in in_lanes(spans)[0]]
    [0, 1, 0]
    """
    free: list[int] = []
    bars, left_out = [], 0
    for start, end, closed, staged in spans:
        lane = next((at for at, until in enumerate(free) if until <= start), len(free))
        if lane >= LANES:
            left_out += 1
            continue
        free[lane : lane + 1] = [max(end, start + 1)]
        bars.append(Bar(start, end, closed, lane, staged))
    return bars, left_out
