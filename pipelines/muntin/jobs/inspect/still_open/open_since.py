"""Since when windows are open, from the published ledgers and the frames of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Bounded, Unending
from muntin.states.columns import FRAME, INSTANT
from muntin.store.paths import parse_states_path
from muntin.store.reading import dataset_of
from muntin.timeline.closing import closing

if TYPE_CHECKING:
    from muntin.jobs.published.pending import Pending
    from muntin.jobs.state.bound import Bound


def open_since(bound: Bound, pending: Pending) -> int | None:
    """The earliest start of an open window; None if no window is open. For `Bounded` windows it follows from the frames of states."""
    window, ledger = bound.windows[pending.window], pending.published.ledger
    if not ledger or not len(ledger.entries):
        return None
    if not isinstance(window.follows, Bounded):
        since = pending.history.batches.low_us if isinstance(window.follows, Unending) else ledger.entries.open_us[-1:]
        earliest = int(since.min(initial=AFTER_ALL))
        return None if earliest == AFTER_ALL else earliest
    floor = int(closing(window, ledger.entries.watermark_us).floor[-1])
    table = bound.frames_of(pending.window).table
    low = max(floor - window.follows.longest_us, BEFORE_ALL)
    highs = ((file.path, parse_states_path(file.path).high_us) for file in pending.states.files)
    paths = [f"{bound.folder}/{table}/{path}" for path, high_us in highs if high_us is not None and high_us >= low]
    starts = (start for frame in _frames(paths, low) for start, end in window.windows_for(frame) if end > floor)
    return next(starts, None)


def _frames(paths: list[str], low_us: int) -> list[int]:
    """The starts of the frames from `low_us` on, ascending."""
    if not paths:
        return []
    low = pa.scalar(low_us, pa.int64()).cast(INSTANT)
    frames = dataset_of(paths, pa.schema([(FRAME, INSTANT)])).to_table(columns=[FRAME], filter=ds.field(FRAME) >= low)[FRAME]
    return sorted(frames.cast(pa.int64()).unique().to_pylist())
