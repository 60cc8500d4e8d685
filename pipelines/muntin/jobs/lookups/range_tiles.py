"""The tiles of history that stand for states of ranges, and the time that they leave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.definition.frame_sets import FrameSet
from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.engine.ranges import Ranges
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.tiered import Tiered, tiered_history
from muntin.states.frames import NO_INTS
from muntin.store.store import File
from muntin.store.tier_files import files_of_rows, made_to, tiles_of
from muntin.timeline.batches import Batches
from muntin.timeline.covering import bounds, covering, left, within
from muntin.timeline.tiers import Tiles

_NONE = (NO_INTS, NO_INTS)
MOST = 64
"""A condition on more stretches of time takes longer than to read what lies between some of them."""


@dataclass(frozen=True, slots=True)
class TilesOfRanges:
    """Tiles in place of states.

    Attributes:
        table: of the tiles, below the state.
        files: path of each file, and the starts of the tiles to read, microseconds.
        rows: of all files.
        to_us: the start of the last batch that tiles stand for; states of later batches are read, whatever
            their time.
        left: the stretches of time whose states are read.
        extent: the first and the last instant of all ranges.
    """

    table: str
    files: tuple[tuple[str, tuple[int, ...]], ...]
    rows: int
    to_us: int
    left: Ranges
    extent: tuple[int, int]


def tiles_of_ranges(
    bound: Bound, frames: FrameSet, schema: pa.Schema, batches: Batches, ranges: Ranges
) -> TilesOfRanges:
    """The tiles for some ranges, whose borders are borders of the frames.

    `schema`: of the states. `batches`: all that are committed.
    """
    held = ranges.held()
    tier_table = tiered_history(bound, frames, schema)
    extent = (int(held.low[0]), int(held.high[-1])) if len(held) else (AFTER_ALL, AFTER_ALL)
    if tier_table is None:
        return TilesOfRanges("", (), 0, BEFORE_ALL, _few(*left(held.low, held.high, *_NONE)), extent)
    folder = bound.table(tier_table.table)
    files = bound.store.snapshot(tier_table.table).files
    to_us = made_to(folder, files)
    valid_tiles = tiles_of(folder, files).valid(tier_table.scale, batches.take(batches.start_us <= to_us))
    by_place = files_of_rows(files)
    chosen = covering(tier_table.scale, held.low, held.high, valid_tiles.take(valid_tiles.usable))
    rest = _few(*left(held.low, held.high, *bounds(tier_table.scale, chosen)))
    chosen = chosen.take(~within(_starts(tier_table, chosen), rest.low, rest.high))
    there = _files(tier_table, chosen, by_place)
    if there is None:
        return TilesOfRanges("", (), 0, BEFORE_ALL, _few(*left(held.low, held.high, *_NONE)), extent)
    rows = sum(file.rows for file, _ in there)
    read = tuple((file.path, starts) for file, starts in there)
    return TilesOfRanges(tier_table.table, read, rows, to_us, rest, extent)


def _starts(tier_table: Tiered, tiles: Tiles) -> np.ndarray:
    return tiles.number * np.array(
        [tier_table.scale.span_us(level) for level in tiles.level.tolist()], np.int64
    )


def _files(
    tier_table: Tiered, chosen: Tiles, by_place: Mapping[tuple[int, int], File]
) -> list[tuple[File, tuple[int, ...]]] | None:
    """The files of some tiles, each with the starts of its tiles; None if a file is not in the table."""
    starts = defaultdict[tuple[int, int], list[int]](list)
    for level, start in zip(chosen.level.tolist(), _starts(tier_table, chosen).tolist(), strict=True):
        above = tier_table.scale.span_us(level + 1)
        starts[level, start // above * above].append(start)
    return (
        [(by_place[place], tuple(at)) for place, at in sorted(starts.items())]
        if starts.keys() <= by_place.keys()
        else None
    )


def _few(low: np.ndarray, high: np.ndarray) -> Ranges:
    """Not too many stretches: stretches with the least time between them are joined."""
    if len(low) > MOST:
        # the longest times between first
        apart = np.sort(np.argsort(high[:-1] - low[1:], kind="stable")[: MOST - 1])
        low = low[np.append(0, apart + 1)]
        high = high[np.append(apart, len(high) - 1)]
    return Ranges(low, high)
