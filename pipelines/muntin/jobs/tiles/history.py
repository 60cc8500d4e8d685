"""Tiles of all of history, for ranges of time that are not known beforehand; `maintain` makes them, runs do not."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from muntin.jobs.published.pending import accumulated
from muntin.jobs.state.tiered import MOST, tiered_history
from muntin.jobs.tiles.tiers import MOST_ROWS, advanced
from muntin.timeline.tiers import Tiles, names

if TYPE_CHECKING:
    from muntin.jobs.state.bound import Bound
    from muntin.timeline.batches import Batches
    from muntin.timeline.tiers import Scale

_log = logging.getLogger("muntin")


def make_history_tiers(bound: Bound, *, most: int = MOST_ROWS) -> bool:
    """Make some tiles of history that are missing; whether there was something to do. `most`: as in `make_tiers`."""
    any_missing = False
    for frames in bound.frame_sets:
        states = bound.store.snapshot(frames.table)
        if tier_table := tiered_history(bound, frames, states.schema):
            try:
                batches = accumulated(bound, frames.table, states)
                any_missing |= len(batches) > 0 and advanced(bound, tier_table, states, batches, _whole(tier_table.scale, batches), most)
            except Exception as wrong:  # noqa: BLE001 - windows are published, and read states instead
                _log.warning("%s: not made (%s: %s); muntin maintain tries again", tier_table.table, type(wrong).__name__, wrong)
    return any_missing


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
