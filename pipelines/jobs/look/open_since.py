"""Since when windows are open, from the published ledgers and the frames of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from pipelines.definition.instants import BEFORE_ALL
from pipelines.definition.kinds import Bounded, Unending
from pipelines.states.columns import FRAME, INSTANT
from pipelines.store.paths import parse_states_path
from pipelines.timeline.closing import closing

if TYPE_CHECKING:
    from pipelines.jobs.bound import Bound
    from pipelines.jobs.pending import Pending


def open_since(bound: Bound, pending: Pending) -> int | None:
    """The earliest start of an open window; None if no window is open. For `Bounded` windows it follows from the frames of states."""
    window, ledger = bound.windows[pending.window], pending.published.ledger
    if not ledger or not ledger.entries:
        return None
    if isinstance(window.follows, Unending):
        return min((batch.low_us for batch in pending.history.batches if batch.low_us is not None), default=None)
    if not isinstance(window.follows, Bounded):
        return ledger.entries[-1].open_us
    floor = int(closing(window, np.array([entry.mark_us for entry in ledger.entries], np.int64)).floor[-1])
    table = bound.frames_of(pending.window).table
    low = max(floor - window.follows.reach_us, BEFORE_ALL)
    highs = ((file.path, parse_states_path(file.path).high_us) for file in pending.states.files)
    paths = [f"{bound.folder}/{table}/{path}" for path, high_us in highs if high_us is not None and high_us >= low]
    starts = (start for frame in _frames(paths, low) for start, end in window.windows_for(frame) if end > floor)
    return next(starts, None)


def _frames(paths: list[str], low_us: int) -> list[int]:
    """The starts of the frames from `low_us` on, ascending."""
    if not paths:
        return []
    low = pa.scalar(low_us, pa.int64()).cast(INSTANT)
    frames = ds.dataset(paths, format="parquet").to_table(columns=[FRAME], filter=ds.field(FRAME) >= low)[FRAME]
    return sorted(frames.cast(pa.int64()).unique().to_pylist())
