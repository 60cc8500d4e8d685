"""Tiles that cover pieces of time, and the time that they leave.

    pieces     [                        )[             )
    level 2        |===============|
    level 1     |==|               |==|      |==|==|
    left       ..                     ...   .       ...

A tile lies in one piece, and no two chosen tiles overlap.
"""

from __future__ import annotations

import numpy as np

from muntin.states.frames import Ints
from muntin.timeline.tiers import NO_TILES, Scale, Tiles


def covering(scale: Scale, low: Ints, high: Ints, tiles: Tiles) -> Tiles:
    """The fewest tiles that cover as much as they can of some pieces of time; no tile lies across a border.

    `scale`: of the tiles. `low`, `high`: of the pieces, ascending; pieces may touch. `tiles`: to choose from.
    """
    chosen = NO_TILES
    for level in np.unique(tiles.level)[::-1].tolist():
        some, span = tiles.at(level), scale.span_us(level)
        start = some.number * span
        inside = (
            within(start, low, high)
            & within(start + span - 1, low, high)
            & (_piece(start, low) == _piece(start + span - 1, low))
        )
        begins, ends = bounds(scale, chosen)
        chosen = Tiles.joined([chosen, some.take(inside & ~within(start, begins, ends))])
    return chosen


def bounds(scale: Scale, tiles: Tiles) -> tuple[Ints, Ints]:
    """The starts and the ends of tiles that do not overlap, ascending."""
    spans = np.array([scale.span_us(level) for level in tiles.level.tolist()], np.int64)
    order = np.argsort(tiles.number * spans)
    start = (tiles.number * spans)[order]
    return start, start + spans[order]


def left(low: Ints, high: Ints, begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """The stretches of some pieces that lie in none of the tiles; stretches that touch are one.

    `low`, `high`: of the pieces, ascending. `begins`, `ends`: of tiles in them, ascending.
    """
    starts = np.sort(np.concatenate((low, ends)))
    stops = np.sort(np.concatenate((high, begins)))
    some = starts < stops
    starts, stops = starts[some], stops[some]
    apart = np.ones(len(starts) + 1, np.bool_)
    apart[1:-1] = starts[1:] > stops[:-1]
    return starts[apart[:-1]], stops[apart[1:]]


def within(us: Ints, low: Ints, high: Ints) -> np.ndarray:
    """Whether each instant lies in some of the ascending stretches."""
    at = _piece(us, low)
    return (at >= 0) & (us < np.append(high, 0)[at])


def _piece(us: Ints, low: Ints) -> Ints:
    """The number of the last stretch that begins at or before each instant; -1 before the first."""
    return np.searchsorted(low, us, side="right") - 1
