"""Since when windows are open, told from published ledgers and the frames of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from pipelines.definition.frame_sets import frame_set_of
from pipelines.engine.frames import FRAME, INSTANT
from pipelines.store.paths import parse_states_path
from pipelines.timeline.closing import NEVER, closing

if TYPE_CHECKING:
    from pipelines.definition.pipeline import Pipeline
    from pipelines.jobs.todo import Todo


def open_since(pipeline: Pipeline, root: str, todo: Todo) -> int | None:
    """The earliest start of an open window; for windows on a grid, by the first frame that one of them holds."""
    window, ledger = pipeline.windows[todo.window], todo.published.ledger
    if not ledger or not ledger.entries:
        return None
    if window.reach_us is None:
        return ledger.entries[-1].open_us
    floor = int(closing(window, np.array([entry.mark_us for entry in ledger.entries], np.int64)).floor[-1])
    table = frame_set_of(pipeline, todo.window).table
    low = max(floor - window.reach_us, NEVER)
    highs = ((file.path, parse_states_path(file.path).high_us) for file in todo.states.files)
    paths = [f"{root}/{table}/{path}" for path, high_us in highs if high_us is not None and high_us >= low]
    starts = (start for frame in _frames(paths, low) for start, end in window.windows_for(frame) if end > floor)
    return next(starts, None)


def _frames(paths: list[str], low_us: int) -> list[int]:
    """The starts of the frames from `low_us` on, ascending."""
    if not paths:
        return []
    bound = pa.scalar(low_us, pa.int64()).cast(INSTANT)
    found = ds.dataset(paths, format="parquet").to_table(columns=[FRAME], filter=ds.field(FRAME) >= bound)[FRAME]
    return sorted(found.cast(pa.int64()).unique().to_pylist())
