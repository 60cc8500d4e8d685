"""Windows that share no row: each row of the frames carries the label of its one window, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipelines.engine.assignment import Assignment
from pipelines.states.frames import run_numbers, run_starts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.states.frames import Frames, Ints

_NONE = np.empty(0, np.int64)
_NOTHING: Mapping[str, np.ndarray] = {}


def disjoint(frames: Frames, start: Ints, end: Ints, late: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Assignment:
    """Windows from the bounds of each row's window; rows that are `late` belong to none."""
    label = np.full(len(frames), -1)
    kept = np.flatnonzero(~late)
    label[kept] = run_numbers(frames.group[kept], start[kept])
    heads = kept[run_starts(frames.group[kept], start[kept])]
    return labelled(frames, label, start[heads], end[heads])


def labelled(
    frames: Frames, label: Ints, start: Ints, end: Ints, *, closed: Ints | None = None, more: Mapping[str, np.ndarray] = _NOTHING
) -> Assignment:
    """Windows from a label per row: window `label` is `[start[label], end[label])`; -1 is no window: the row came too late.

    Labels ascend with (group, start), so that sorting rows by label keeps each window's rows in arrival order.
    """
    kept = np.flatnonzero(label >= 0)
    own = label[kept]
    if len(own) > 1 and bool(np.any(own[1:] < own[:-1])):
        kept = kept[np.argsort(own, kind="stable")]
        own = label[kept]
    lo = np.searchsorted(own, np.arange(len(start)), side="left")
    hi = np.searchsorted(own, np.arange(len(start)), side="right")
    return Assignment(kept, own, frames.group[kept[lo]], start, end, lo, lo, hi, _NONE, _NONE, (label < 0).astype(np.int64), closed, more)
