"""Making tiers: tiles that the next windows may read, and, by `maintain`, tiles of all of history; see
`timeline.tiers`.

Tiers are a cache. A run that commits meanwhile comes first, and whatever goes wrong here is no error: windows
read states instead.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from muntin.definition.frame_sets import FrameSet
from muntin.definition.instants import BEFORE_ALL
from muntin.definition.kinds import Even
from muntin.jobs.published.pending import accumulated
from muntin.jobs.published.window_tables import published
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.tiered import MOST, Tiered, tiered, tiered_history
from muntin.store.store import Snapshot
from muntin.timeline.batches import Batches
from muntin.timeline.closing import closing, watermarks
from muntin.timeline.history import history
from muntin.timeline.tiers import Scale, Tiles, due, names

MOST_ROWS = 1_000_000
"""Files with so many states are read at the end of a run, and those of a tile at least."""
_log = logging.getLogger("muntin")


def make_tiers(bound: Bound, *, most: int = MOST_ROWS) -> bool:
    """Make tiles that are missing, and remove tiles that no window reaches any more; whether there was
    something to do.

    `most`: files with so many states are read, and the states of at least one tile. Call it until it says
    False to make all tiles.
    """

    def advance(tier_table: Tiered, states: Snapshot) -> bool:
        batches, floors = _published(bound, tier_table, states)
        if not len(batches) or min(floor for _, floor in floors) == BEFORE_ALL:
            return False
        return advanced(bound, tier_table, states, batches, due(tier_table.scale, floors, batches), most)

    return _any_missing(bound, tiered, advance, "a later run does that")


def _any_missing(
    bound: Bound,
    tiers_of: Callable[[Bound, FrameSet, pa.Schema | None], Tiered | None],
    advance: Callable[[Tiered, Snapshot], bool],
    later: str,
) -> bool:
    """Make tiles of each set of frames; whether some were missing."""
    any_missing = False
    for frames in bound.frame_sets:
        states = bound.store.snapshot(frames.table)
        if tier_table := tiers_of(bound, frames, states.schema):
            try:
                any_missing |= advance(tier_table, states)
            except Exception as wrong:  # noqa: BLE001 - windows are published, and read states instead
                kind = type(wrong).__name__
                _log.warning("%s: not made (%s: %s); %s", tier_table.table, kind, wrong, later)
    return any_missing


def advanced(
    bound: Bound, tier_table: Tiered, states: Snapshot, batches: Batches, wanted: Tiles, most: int
) -> bool:
    """Make some of the wanted tiles that are missing, and remove other tiles; whether some were missing.

    `most`: see `make_tiers`.
    """
    from muntin.jobs.tiles.new_tiles import NewTiles

    gone_to = int(batches.high_us[batches.expired].max(initial=BEFORE_ALL))
    spans = np.array([tier_table.scale.span_us(level) for level in wanted.level.tolist()], np.int64)
    wanted = wanted.take(wanted.number * spans > gone_to)  # all of whose states are there
    new = NewTiles(bound, tier_table, states, batches)
    missing = wanted.take(~wanted.among(new.kept_tiles))
    if not len(missing):
        return False
    new.kept_tiles = new.kept_tiles.take(new.kept_tiles.among(wanted))
    new.make_from_states(missing.take(missing.level <= 1), most)
    for level in range(2, int(missing.level.max()) + 1):
        new.make_from_tiles(missing.at(level))
    new.commit()
    return True


def _published(bound: Bound, tier_table: Tiered, states: Snapshot) -> tuple[Batches, list[tuple[Even, int]]]:
    """The batches that windows were published from; the grids of long windows, and the instants up to which
    the windows are closed.
    """
    starts, pipeline = published(bound.store, next(iter(tier_table.long))).starts, bound.pipeline
    batches = accumulated(bound, tier_table.frames.table, states)
    past = history(batches, starts, starts[:0], pipeline.intervals).batches
    past = past.take(past.start_us <= starts.max(initial=BEFORE_ALL))
    watermarks_us = watermarks(past, pipeline.watermarking)
    return past, [
        (even, int(closing(bound.windows[name], watermarks_us).floor[-1]))
        for name, even in tier_table.long.items()
    ]


def make_history_tiers(bound: Bound, *, most: int = MOST_ROWS) -> bool:
    """Make some tiles of history that are missing; whether there was something to do.

    `most`: as in `make_tiers`.
    """

    def advance(tier_table: Tiered, states: Snapshot) -> bool:
        batches = accumulated(bound, tier_table.frames.table, states)
        return len(batches) > 0 and advanced(
            bound, tier_table, states, batches, _whole(tier_table.scale, batches), most
        )

    return _any_missing(bound, tiered_history, advance, "muntin maintain tries again")


def _whole(scale: Scale, batches: Batches) -> Tiles:
    """The tiles that end before the last batch does and hold states; of a long history the newest."""
    end_us, first_us = int(batches.end_us[-1]), int(batches.low_us.min())
    levels, oldest = scale.levels(max(0, end_us - first_us)), end_us - MOST * scale.span_us(1)
    if first_us < oldest:  # the tiles of a level are made of the tiles of the level below
        first_us = -(-oldest // scale.span_us(levels[-1])) * scale.span_us(levels[-1])
    parts = []
    for level in levels:
        span = scale.span_us(level)
        number = np.arange(first_us // span, end_us // span)
        name = names(scale, level, number, batches)
        parts.append(Tiles(np.full(len(number), level), number, name, np.ones(len(number), np.bool_)))
    tiles = Tiles.joined(parts)
    return tiles.take(tiles.name != 0)
