"""Windows that share no row: each row has the label of its window, or `LATE`, or `OUTSIDE`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from muntin.engine.assignment import Assignment
from muntin.states.frames import NO_INTS, Flags, Frames, Ints, run_numbers, run_starts

LATE, OUTSIDE = -1, -2
"""Labels of rows without a window: the window was closed when the row came; no window holds its instant."""
_NO_COLUMNS: Mapping[str, np.ndarray] = {}


def disjoint(frames: Frames, start: Ints, end: Ints, late: Flags) -> Assignment:
    """Windows from the bounds of each row's window; a row that is `late` belongs to no window.

    Rows are sorted by (group, start of their window). A row whose bounds are equal lies in no window, and is
    never late.
    """
    outside = end <= start
    label = np.where(outside, OUTSIDE, LATE)
    inside = np.flatnonzero(~(late | outside))
    label[inside] = run_numbers(frames.group[inside], start[inside])
    heads = inside[run_starts(frames.group[inside], start[inside])]
    return labelled(frames, label, start[heads], end[heads])


def labelled(
    frames: Frames,
    label: Ints,
    start: Ints,
    end: Ints,
    *,
    closings: tuple[Ints | None, Ints | None] = (None, None),
    more: Mapping[str, np.ndarray] = _NO_COLUMNS,
) -> Assignment:
    """Windows from a label per row: window `label` is `[start[label], end[label])`; `LATE` and `OUTSIDE` are
    no window.

        row       0   1   2   3   4   5
        label     0   0   1  -1   0   1        windows of rows 2 and 4 overlap in time; row 3 is LATE
        order     0   1   4 | 2   5            each window's rows side by side, in order of arrival
        block     0   0   0 | 1   1            a block a window, so `mid = lo`

    `frames`: the rows. `label`: of each row; every label from 0 on has a row, and labels ascend with (group,
    start). `start`, `end`: of each label, microseconds. `closings`, `more`: `closed`, `final` and `more` of
    `Assignment`.
    """
    rows = np.flatnonzero(label >= 0)
    row_label = label[rows]
    if len(row_label) > 1 and bool(np.any(row_label[1:] < row_label[:-1])):
        rows = rows[np.argsort(row_label, kind="stable")]
        row_label = label[rows]
    lo = np.searchsorted(row_label, np.arange(len(start)), side="left")
    hi = np.searchsorted(row_label, np.arange(len(start)), side="right")
    missed = (label == LATE).astype(np.int64)
    return Assignment(
        rows,
        row_label,
        frames.group[rows[lo]],
        start,
        end,
        lo,
        lo,
        hi,
        NO_INTS,
        NO_INTS,
        missed,
        closings[0],
        more,
        final=closings[1],
    )


def closings(floor: Ints, due: Ints, final: Ints, lateness_us: int) -> tuple[Ints, Ints]:
    """The batch that closes each window, and the last whose rows count in it.

    A window that a row makes when no later row can count in it closes with this row's batch.

    `floor`: per batch, and one past the last, the instant up to which windows were final before it came.
    `due`: of each window, the instant that time must reach. `final`: the last batch that counts in each.
    `lateness_us`: for how long after its closing a window is revised.
    """
    if not lateness_us:
        return final, final
    forced = final > np.searchsorted(floor[1:], due)
    return np.where(forced, final, np.searchsorted(floor[1:] + lateness_us, due)), final
