"""Explain: what a window is made of, or why it does not exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from muntin.definition.instants import from_us, instant_us
from muntin.definition.pipeline import Pipeline
from muntin.engine.windows import Combined
from muntin.errors import DefinitionError, SourceError
from muntin.files.paths import AnyPath
from muntin.jobs.accumulate.later_batches import ToldChange, told_changes
from muntin.jobs.inputs.dimensions.looked_up import LookedUp, MetRow, looked_up, met_rows
from muntin.jobs.inspect.one_key import ALL_US, around_us, combined_of_key, one_row_each, rows_of_key
from muntin.jobs.inspect.selection import no_window
from muntin.jobs.published.as_defined import as_readers_know
from muntin.jobs.published.pending import Pending, are_gone, expired_to, pending_window, refusal
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.state_folders import bind_existing

NO_EVENT = "there is no event of this key in any window"


@dataclass(frozen=True, slots=True)
class Part:
    """A state: start of its frame, start of its batch, its rows, and whether it was late
    for other windows.
    """

    frame: datetime
    batch: datetime
    rows: int
    late: bool


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation of a window.

    Attributes:
        window: its row, as `read` has it.
        closed_by: start of the batch that closed it; None while none has.
        parts: the states it is made of, in the order they are combined in.
        missed: states inside its bounds that came too late for it.
        before: states of the time before it, whose last values hold when it begins (`carry=`).
        hidden: the `having` that does not hold for it, so that readers do not see it; None: it is shown.
        looked_up: the look-ups of the batches of its states.
        met: the rows of dimensions that events of the batches met in the time of the window.
        changes: the rows of later batches that change rows of the batches, or take them back.
        unread: why the rows of later batches cannot be read; None: they are read.
    """

    window: Mapping[str, Any]
    closed_by: datetime | None
    parts: tuple[Part, ...]
    missed: tuple[Part, ...]
    before: tuple[Part, ...] = ()
    hidden: str | None = None
    looked_up: tuple[LookedUp, ...] = ()
    met: tuple[MetRow, ...] = ()
    changes: tuple[ToldChange, ...] = ()
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The windows of a key that hold an instant; or, if there is none, why."""

    windows: tuple[Explained, ...]
    why_none: str | None = None


def explain(
    pipeline: Pipeline, window: str, *, root: str | AnyPath, key: Sequence[Any] = (), at: datetime
) -> Explanation:
    """Explain the windows of a key, a value for each key column, that hold an instant, from the checkpoint as
    it is.
    """
    if window not in pipeline.windows:
        raise no_window(pipeline, window)
    if len(key) != len(keys := pipeline.keys_of(window)):
        raise DefinitionError(
            f"key: {list(key)} is not a value for each of the key columns:"
            f" {', '.join(keys) or 'there are none'}"
        )
    bound = one_row_each(as_readers_know(bind_existing(pipeline, root)), window)
    todo, at_us, kind = pending_window(bound, window), instant_us(at, "at"), bound.windows[window]
    around = around_us(kind, bound.frames_of(window).width_us, at_us)
    if are_gone(todo.history.batches, *around):
        return Explanation(
            (),
            f"{refusal(bound, expired_to(bound))}: what the windows over that instant were made of is not"
            " known any more",
        )
    combined = _of_key(bound, todo, key, around)
    explained = [
        _explained(bound, todo, one, row)
        for one, rows in combined
        for row in rows
        if one.assignment.start[row] + kind.outside_us <= at_us < one.assignment.end[row] + kind.beyond_us
    ]
    if explained:
        return Explanation(tuple(_with_changes(bound, _with_look_ups(bound, explained))))
    return Explanation((), _why(pipeline, todo, _of_key(bound, todo, key, ALL_US), at_us))


def _with_look_ups(bound: Bound, explained: Sequence[Explained]) -> list[Explained]:
    starts = sorted({start for each in explained for start in _batches(each)})
    look_ups = looked_up(bound, np.array(starts, np.int64))
    of = [{part.batch for part in each.parts} for each in explained]
    return [
        replace(each, looked_up=tuple(one for one in look_ups if one.batch in batches), met=_met(bound, each))
        for each, batches in zip(explained, of, strict=True)
    ]


def _met(bound: Bound, one: Explained) -> tuple[MetRow, ...]:
    begin, end = (instant_us(one.window[name], name) for name in ("window_start", "window_end"))
    return met_rows(bound, np.array(_batches(one), np.int64), (begin, end + 1))


def _with_changes(bound: Bound, explained: Sequence[Explained]) -> list[Explained]:
    try:
        row_changes = told_changes(bound, {start for each in explained for start in _batches(each)})
    except SourceError as gone:
        return [replace(each, unread=str(gone)) for each in explained]
    return [
        replace(
            each,
            changes=tuple(one for one in row_changes if instant_us(one.batch, "batch") in _batches(each)),
        )
        for each in explained
    ]


def _batches(one: Explained) -> list[int]:
    """Starts of the batches of a window's states, ascending."""
    return sorted({instant_us(part.batch, "batch") for part in one.parts})


def _of_key(
    bound: Bound, todo: Pending, key: Sequence[Any], within_us: tuple[int, int]
) -> list[tuple[Combined, np.ndarray]]:
    """The windows made of the frames of a stretch, and which of them are the key's; none where the key has
    none.
    """
    combined_windows = combined_of_key(bound, todo, key, within_us)
    own = (
        (one, np.flatnonzero(rows_of_key(one.windows, bound.keys_of(todo.window), key)))
        for one in combined_windows
    )
    return [(one, rows) for one, rows in own if len(rows)]


def _explained(bound: Bound, todo: Pending, combined: Combined, row: int) -> Explained:
    one, batches = combined.assignment, todo.history.batches
    members = np.append(one.order[one.lo[row] : one.hi[row]], one.late_row[one.late_window == row])
    frames, closed = combined.frames, int(combined.closed[row])
    inside = (
        (frames.group == one.group[row])
        & (frames.start >= one.start[row])
        & (frames.start < max(one.end[row], one.start[row] + 1))
    )
    came_later = np.setdiff1d(np.flatnonzero(inside & (frames.batch > closed)), members)
    before = np.unique([rows[row] for rows in combined.past.rows_before(one, bound.aggregates)]).astype(
        np.int64
    )
    values = {
        name: column[0].as_py()
        for name, column in zip(combined.windows.column_names, combined.windows.slice(row, 1), strict=False)
    }
    shown = {
        name: value
        for name, value in values.items()
        if not name.startswith("state_") or name in bound.aggregates
    }
    return Explained(
        shown,
        from_us(int(batches.start_us[closed])) if closed < len(batches) else None,
        _parts(todo, combined, members),
        _parts(todo, combined, came_later),
        _parts(todo, combined, before[before >= 0]),
        None if combined.shown is None or combined.shown[row] else bound.windows[todo.window].having,
    )


def _parts(todo: Pending, combined: Combined, rows: np.ndarray) -> tuple[Part, ...]:
    frames, counted = combined.frames, combined.states["rows"].to_numpy()
    starts = todo.history.batches.start_us
    return tuple(
        Part(
            from_us(int(frames.start[row])),
            from_us(int(starts[frames.batch[row]])),
            int(counted[row]),
            bool(combined.candidates.missed[row]),
        )
        for row in rows.tolist()
    )


def _why(
    pipeline: Pipeline, todo: Pending, windows_of_key: Sequence[tuple[Combined, np.ndarray]], at_us: int
) -> str:
    """Why no window of the key holds an instant."""
    batches = todo.history.batches
    if not len(batches):
        return "no batch was accumulated yet; run the pipeline first"
    last = int(batches.end_us[-1])
    if not windows_of_key:
        return f"{NO_EVENT}: check the key, the filter, and muntin show --quarantine FILE for refused rows"
    bounds = [
        (int(one.assignment.start[row]), int(one.assignment.end[row]))
        for one, rows in windows_of_key
        for row in rows
    ]
    if at_us >= last:
        return (
            f"the history ends at {from_us(last):%Y-%m-%dT%H:%M}; later batches were not run, or wait for"
            " missing ones"
        )
    before = max((end for _, end in bounds if end <= at_us), default=None)
    after = min((start for start, _ in bounds if start > at_us), default=None)
    around = (
        [f"the last window before it ends at {from_us(before):%Y-%m-%dT%H:%M:%S}"]
        if before is not None
        else []
    )
    around += [f"the next one starts at {from_us(after):%Y-%m-%dT%H:%M:%S}"] if after is not None else []
    late = sum(
        int(one.states["rows"].to_numpy()[one.candidates.missed > 0].sum()) for one, _ in windows_of_key
    )
    late_rows = (
        f"; {late} rows of this key came too late for some window (see `muntin show --late`)" if late else ""
    )
    return (
        f"the key has no event that counts in a window of {pipeline.name} over that instant:"
        f" {'; '.join(around)}{late_rows}"
    )
