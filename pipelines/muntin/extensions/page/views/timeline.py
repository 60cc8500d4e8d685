"""The timeline of a window: batches, and above them the windows of one key.

windows      |=========|          closed by the batch below their end, and by a later one under a grace
                  |=========|
                       |/////////////|   open
batches      |----|----|-!--|....|----|  ! late rows   .... missing
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from muntin.definition.instants import from_us
from muntin.definition.kinds import Bounded, Chained
from muntin.extensions.page.views.seen import Key, Seen
from muntin.extensions.page.views.trends import ListedBatch, listed_batches, with_counts
from muntin.jobs.inspect.one_key import combined_of_key, frames_from, one_row_each, rows_of_key
from muntin.jobs.inspect.some_windows import Asked, some_windows
from muntin.jobs.published.pending import Pending, pending_window
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BATCH
from muntin.states.sorted import instants
from muntin.timeline.closing import closing

BATCHES = 24
MOST = 500
"""So many windows are read for a picture."""
LANES = 16


@dataclass(frozen=True, slots=True)
class Bar:
    """A window; instants in microseconds.

    `closed_us`: start of the batch that closed it; None: it is open. `lane`: its row, from below.
    """

    start_us: int
    end_us: int
    closed_us: int | None
    lane: int


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
    at: Seen, window: str, key: Key | None, *, count: int = BATCHES, end: int | None = None
) -> Timeline:
    """The timeline of a key. `end`: number of the last batch plus one; None: up to the newest."""
    bound = one_row_each(at.bound, window)
    todo = pending_window(bound, window)
    every = listed_batches(todo)
    end = len(every) if end is None else max(1, min(end, len(every)))
    first = max(0, end - count)
    some = with_counts(todo, every[first:end])
    spans = _spans(bound, todo, key, some) if key is not None and some else []
    bars, left_out = in_lanes(spans)
    earlier, later = first or None, min(end + count, len(every)) if end < len(every) else None
    return Timeline(window, key, tuple(some), tuple(bars), left_out, earlier, later)


def number_at(at: Seen, window: str, until_us: int) -> int:
    """How many batches end at or before an instant: the `end` of a timeline up to there."""
    return sum(1 for _, end, _ in listed_batches(pending_window(at.bound, window)) if end <= until_us)


def _spans(
    bound: Bound, todo: Pending, key: Key, some: Sequence[ListedBatch]
) -> list[tuple[int, int, int | None]]:
    """(start, end, closing batch) of the windows that touch the batches."""
    low, high = some[0].start_us, some[-1].end_us
    asked = Asked(dict(zip(bound.keys_of(todo.window), key, strict=True)), from_us(low), from_us(high))
    rows = some_windows(bound, todo.window, asked, limit=MOST).rows
    columns = (
        (instants(rows[name]).tolist() for name in ("window_start", "window_end", BATCH))
        if len(rows)
        else ((), (), ())
    )
    closed: set[tuple[int, int, int | None]] = {*zip(*columns, strict=True)}
    closed_spans = {(start, end) for start, end, _ in closed}
    still = _open(bound, todo, key, low) if may_be_open(bound, todo, high) else ()
    opened = (
        (start, end, None)
        for start, end in still
        if start < high and end > low and (start, end) not in closed_spans
    )
    return sorted({*closed, *opened}, key=lambda span: span[:2])


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


def _open(bound: Bound, todo: Pending, key: Key, low_us: int) -> Iterable[tuple[int, int]]:
    """The windows of a key that no batch of the history closes, without hidden windows."""
    kind = bound.windows[todo.window]
    within = frames_from(kind, bound.frames_of(todo.window).width_us, low_us)
    for one in combined_of_key(bound, todo, key, within):
        still = one.closed >= len(todo.history.batches)
        own = still & rows_of_key(one.windows, bound.keys_of(todo.window), key)
        own &= True if one.shown is None else one.shown
        yield from zip(one.assignment.start[own].tolist(), one.assignment.end[own].tolist(), strict=True)


def in_lanes(spans: Sequence[tuple[int, int, int | None]]) -> tuple[list[Bar], int]:
    """The lowest free lane for each window (start, end, closing batch), by start; and the number of windows
    without a lane.

    >>> [bar.lane for bar in in_lanes([(0, 2, None), (1, 3, None), (2, 4, None)])[0]]
    [0, 1, 0]
    """
    free: list[int] = []
    bars, left_out = [], 0
    for start, end, closed in spans:
        lane = next((at for at, until in enumerate(free) if until <= start), len(free))
        if lane >= LANES:
            left_out += 1
            continue
        free[lane : lane + 1] = [max(end, start + 1)]
        bars.append(Bar(start, end, closed, lane))
    return bars, left_out
