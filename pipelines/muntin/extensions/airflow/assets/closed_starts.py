"""Starts of closed windows, by what the table and the grid say: of a grid also the windows in which nothing
happened.

watermark     W0        W1        W2
windows    [  |  ][  |  ][  |  ][         a window is of the batch whose watermark passes its end
batch 1               *    *
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.kinds import Kind
from muntin.jobs.published.window_tables import Published, published
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BATCH, INSTANT
from muntin.states.frames import Ints
from muntin.states.sorted import instants
from muntin.store.paths import batches_of_windows
from muntin.store.reading import read_files
from muntin.timeline.closing import closing


def closed_starts(bound: Bound, window: str, batches: Sequence[int]) -> list[int]:
    """Starts of the windows that some batches closed, ascending, in microseconds; of a grid also of windows
    without rows.

    `batches`: starts of their intervals; a batch that nothing was published from does not count.
    """
    now, kind = published(bound.store, window), bound.windows[window]
    if now.ledger is None or not batches:
        return []
    ledger_at = now.ledger.entries.position(np.array(sorted(batches), np.int64))
    window_starts = {*_of_rows(bound, now, batches)}
    if kind.grid and (positions := ledger_at[ledger_at >= 0]).size:
        window_starts.update(_of_grid(kind, now, positions))
    return sorted(window_starts)


def starts_if_closed(bound: Bound, window: str, low_us: int, high_us: int) -> list[int]:
    """Starts of the windows of a grid that begin in `[low_us, high_us)`, in microseconds, if all of them are
    closed; else none.
    """
    now, kind = published(bound.store, window), bound.windows[window]
    if now.ledger is None or not kind.grid:
        return []
    starts, ends = _around(kind, low_us, high_us - 1)
    inside = (starts >= low_us) & (starts < high_us)
    open_from = closing(kind, now.ledger.entries.watermark_us).floor[-1]
    return np.unique(starts[inside]).tolist() if (ends[inside] <= open_from).all() else []


def published_batches(bound: Bound, window: str, low_us: int, high_us: int) -> list[int]:
    """Starts of the batches that begin in `[low_us, high_us)`, in microseconds, if windows were published
    from all of them; else none.
    """
    starts = published(bound.store, window).starts
    inside = starts[(starts >= low_us) & (starts < high_us)].tolist()
    return inside if inside and bound.pipeline.intervals.after(inside[-1]) >= high_us else []


def _of_rows(bound: Bound, now: Published, batches: Sequence[int]) -> list[int]:
    """Starts of the windows in the table that some batches closed.

    Only files that may hold such windows are opened.
    """
    low, high = min(batches), max(batches)
    spans = {file: batches_of_windows(file.path) for file in now.snapshot.files}
    files = tuple(file for file, span in spans.items() if span and span[0] <= high and span[1] >= low)
    if not files:
        return []
    wanted = pc.field(BATCH).isin(pa.array(sorted(batches), pa.int64()).cast(INSTANT))
    rows = read_files(bound.table(now.table), replace(now.snapshot, files=files), ["window_start"], wanted)
    return np.unique(instants(rows["window_start"])).tolist()


def _of_grid(kind: Kind, now: Published, positions: Ints) -> list[int]:
    """Starts of the windows of the grid that the batches at these positions closed; no start lies before the
    first batch.
    """
    assert now.ledger  # noqa: S101 - by the caller
    entries = now.ledger.entries
    closes = closing(kind, entries.watermark_us)
    low = max(closes.floor[positions[0]], entries.start_us[0])
    high = closes.floor[positions[-1] + 1]
    if high <= low:
        return []
    starts, ends = _around(kind, int(low), int(high))
    closed = (ends > low) & (ends <= high) & np.isin(closes.batch_of(ends), positions)
    return np.unique(starts[closed]).tolist()


def _around(kind: Kind, low_us: int, high_us: int) -> tuple[Ints, Ints]:
    """Start and end of the windows of a grid that hold an instant of `[low_us, high_us]`, and of some
    neighbours.
    """
    assert kind.grid  # noqa: S101 - by the callers
    first = min([start for start, _ in kind.windows_for(low_us)], default=low_us)
    last = max([end for _, end in kind.windows_for(high_us)], default=high_us)
    return kind.grid(min(first, low_us), max(last, high_us))
