"""Windows without events that values of earlier events may last to.

frames        [ a )            [ b )        of one key
reach         |-------------|  |-------------|
windows       [   )[   )[   )[ . )[   )[   )           all that begin in a reach; those that hold events are there anyhow
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from muntin.engine.event_time.late_pairs import with_windows
from muntin.engine.repeats import repeated
from muntin.states.frames import run_starts

if TYPE_CHECKING:
    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Frames, Ints

_FAR = 1000
"""Frames between two stretches of time: windows of shorter gaps are computed and not used, as to ask once more takes longer."""


def with_reached(
    found: Assignment,
    frames: Frames,
    kind: Any,  # noqa: ANN401 - of any class
    behind_us: int,
    ends: tuple[int, int],
    known_us: int,
) -> Assignment:
    """The windows, and those that begin behind a frame of their group, less than `behind_us` after its start.

    Args:
        found: the windows that hold events.
        frames: the states.
        kind: of the windows: it has a grid.
        behind_us: see above.
        ends: the windows that end after the first instant and up to the second are wanted.
        known_us: no wanted window begins at this instant or later.
    """
    low, high = np.maximum(frames.start, ends[0] - kind.follows.longest_us), np.minimum(frames.start + behind_us, min(ends[1], known_us))
    start, end = _grid(kind, low, high)
    wanted = (end > ends[0]) & (end <= ends[1]) & (start < known_us)
    start, end = start[wanted], end[wanted]
    first = np.searchsorted(start, frames.start - kind.outside_us, side="right")
    last = np.searchsorted(start, frames.start + behind_us)
    goes_on = ~run_starts(frames.group)
    first[goes_on] = np.maximum(first, np.roll(last, 1))[goes_on]  # what a frame before it reaches is there already
    row, nth = repeated(np.arange(len(frames)), np.maximum(last - first, 0))
    at = first[row] + nth
    return with_windows(found, frames.group[row], start[at], end[at])[0]


def _grid(kind: Any, low: Ints, high: Ints) -> tuple[Ints, Ints]:  # noqa: ANN401 - as above
    """The windows of the grid around some stretches of time, each once, sorted by start and end; `low` and `high` may cross."""
    some = low < high
    lows, highs = np.sort(low[some]), np.sort(high[some])
    apart = np.ones(len(lows) + 1, np.bool_)
    apart[1:-1] = lows[1:] - _FAR * kind.frame_us(0) > highs[:-1]  # nothing lies over this gap, and it is long
    parts = [_between(kind, *stretch) for stretch in zip(lows[apart[:-1]].tolist(), highs[apart[1:]].tolist(), strict=True)]
    if not parts:
        return low[:0], low[:0]
    windows = np.unique(np.column_stack([np.concatenate(column) for column in zip(*parts, strict=True)]), axis=0)
    return np.ascontiguousarray(windows[:, 0]), np.ascontiguousarray(windows[:, 1])


def _between(kind: Any, low_us: int, high_us: int) -> tuple[Ints, Ints]:  # noqa: ANN401 - as above
    """The windows of the grid from those that hold an instant to those that hold another."""
    first, last = kind.windows_for(low_us), kind.windows_for(high_us)
    found: tuple[Ints, Ints] = kind.grid(first[0][0] if first else low_us, last[-1][1] if last else high_us)
    return found
