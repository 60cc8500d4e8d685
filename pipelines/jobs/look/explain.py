"""Explain: what a window is made of, or why it does not exist."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.definition.instants import AFTER_ALL, BEFORE_ALL, from_us, instant_us
from pipelines.errors import DefinitionError
from pipelines.jobs.look.unknown import no_window
from pipelines.jobs.pending import pending_window
from pipelines.jobs.run.finalize_task import combined_shard
from pipelines.jobs.shards.shard import shards
from pipelines.jobs.state_folders import bind_existing
from pipelines.timeline.work import Work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.definition.pipeline import Pipeline
    from pipelines.engine.windows import Combined
    from pipelines.jobs.pending import Pending
    from pipelines.windows import Window


@dataclass(frozen=True, slots=True)
class Part:
    """A state: start of its frame, start of its batch, its rows, and whether it was late for other windows."""

    frame: datetime
    batch: datetime
    rows: int
    late: bool


@dataclass(frozen=True, slots=True)
class Explained:
    """One window.

    Attributes:
        window: its row, as `read` has it.
        closed_by: start of the batch that closed it; None while none has.
        parts: the states it is made of, in the order they are combined in.
        missed: states inside its bounds that came too late for it.
    """

    window: Mapping[str, Any]
    closed_by: datetime | None
    parts: tuple[Part, ...]
    missed: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The windows of a key that hold an instant; or, if there is none, why."""

    windows: tuple[Explained, ...]
    why_none: str | None = None


def explain(pipeline: Pipeline, window: str, *, root: str | Path, key: Sequence[Any] = (), at: datetime) -> Explanation:
    """What the windows of a key are made of that hold an instant, from the checkpoint as it is.

    Args:
        pipeline, window, root: which, and where.
        key: a value for each key column.
        at: an aware datetime.

    Raises:
        DefinitionError: no such window, or not a value for each key column.
        StateError: there is no state.
    """
    if window not in pipeline.windows:
        raise no_window(pipeline, window)
    if len(key) != len(pipeline.keys):
        raise DefinitionError(
            f"key: {list(key)} is not a value for each of the key columns: {', '.join(pipeline.keys) or 'there are none'}"
        )
    bound = bind_existing(pipeline, root)
    bound = replace(bound, pipeline=replace(pipeline, windows={**pipeline.windows, window: bound.windows[window].one_row_each()}))
    todo = pending_window(bound, window)
    count = len(todo.history.batches)
    todo = replace(todo, work=Work(np.arange(count + 1), BEFORE_ALL, AFTER_ALL))
    at_us = instant_us(at, "at")
    found = [(one, rows) for one in map(combined_shard, shards(bound, todo, "")) if len(rows := _of_key(pipeline, one, key))]
    explained = [
        _explained(pipeline, todo, one, at_row)
        for one, rows in found
        for at_row in rows
        if _holds(bound.windows[window], one, at_row, at_us)
    ]
    if explained:
        return Explanation(tuple(explained))
    return Explanation((), _why(pipeline, todo, found, at_us))


def _of_key(pipeline: Pipeline, combined: Combined, key: Sequence[Any]) -> np.ndarray:
    """The rows of the windows that belong to a key."""
    mask = np.ones(len(combined.windows), np.bool_)
    for name, value in zip(pipeline.keys, key, strict=True):
        column = combined.windows[name].combine_chunks()
        wanted = pc.is_null(column) if value is None else pc.equal(column, pa.scalar(value).cast(column.type))
        mask &= pc.fill_null(wanted, False).to_numpy(zero_copy_only=False)  # noqa: FBT003 - what a null becomes
    return np.flatnonzero(mask)


def _holds(kind: Window, combined: Combined, row: int, at_us: int) -> bool:
    """Whether an instant lies in a window; the ends of unique windows, and those of last events, belong to them."""
    return bool(combined.assignment.start[row] <= at_us < combined.assignment.end[row] + kind.beyond_us)


def _explained(pipeline: Pipeline, todo: Pending, combined: Combined, row: int) -> Explained:
    one, batches = combined.assignment, todo.history.batches
    members = np.append(one.order[one.lo[row] : one.hi[row]], one.late_row[one.late_window == row])
    frames, closed = combined.frames, int(combined.closed[row])
    inside = (frames.group == one.group[row]) & (frames.start >= one.start[row]) & (frames.start < max(one.end[row], one.start[row] + 1))
    came_later = np.setdiff1d(np.flatnonzero(inside & (frames.batch > closed)), members)
    values = {name: column[0].as_py() for name, column in zip(combined.windows.column_names, combined.windows.slice(row, 1), strict=False)}
    shown = {name: value for name, value in values.items() if not name.startswith("state_") or name in pipeline.aggregates}
    return Explained(
        shown,
        from_us(int(batches.start_us[closed])) if closed < len(batches) else None,
        _parts(todo, combined, members),
        _parts(todo, combined, came_later),
    )


def _parts(todo: Pending, combined: Combined, rows: np.ndarray) -> tuple[Part, ...]:
    frames, counted = combined.frames, combined.states["rows"].to_numpy()
    starts = todo.history.batches.start_us
    return tuple(
        Part(from_us(int(frames.start[row])), from_us(int(starts[frames.batch[row]])), int(counted[row]), bool(combined.found.missed[row]))
        for row in rows.tolist()
    )


def _why(pipeline: Pipeline, todo: Pending, found: Sequence[tuple[Combined, np.ndarray]], at_us: int) -> str:
    """Why no window of the key holds an instant."""
    batches = todo.history.batches
    if not len(batches):
        return "no batch was accumulated yet; run the pipeline first"
    last = int(batches.end_us[-1])
    if not found:
        return "there is no event of this key in any window: check the key, the filter, and `muntin status` for quarantined rows"
    bounds = [(int(one.assignment.start[row]), int(one.assignment.end[row])) for one, rows in found for row in rows]
    if at_us >= last:
        return f"the history ends at {from_us(last):%Y-%m-%dT%H:%M}; later batches were not run, or wait for missing ones"
    before, after = (
        max((end for _, end in bounds if end <= at_us), default=None),
        min((start for start, _ in bounds if start > at_us), default=None),
    )
    around = [f"the last window before it ends at {from_us(before):%Y-%m-%dT%H:%M:%S}"] if before is not None else []
    around += [f"the next one starts at {from_us(after):%Y-%m-%dT%H:%M:%S}"] if after is not None else []
    late = sum(int(one.states["rows"].to_numpy()[one.found.missed > 0].sum()) for one, _ in found)
    told = f"; {late} rows of all keys came too late for some window (see `muntin late`)" if late else ""
    return f"the key has no event that counts in a window of {pipeline.name} over that instant: {'; '.join(around)}{told}"
