"""Frame sets that have tiers: of long windows of one size, if all fields give the same bits in any order and
groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from muntin.definition.durations import spell
from muntin.definition.frame_sets import FrameSet
from muntin.definition.kinds import Even
from muntin.jobs.state.bound import Bound
from muntin.store.paths import TIERS
from muntin.timeline.tiers import Scale

BASE = 16
"""So many tiles of a level make a tile of the next."""
LONG = 4
"""A window is long from so many tiles of level 1 on."""
MOST = 50_000
"""Windows of more tiles of level 1 have no tiers: a run looks at the names of all."""
SHORTEST_US = 3_600_000_000
"""Tiles of all of history are no shorter: there are few of them, whatever the frames are."""


@dataclass(frozen=True, slots=True)
class Tiered:
    """A set of frames with tiers: how long the tiles are, and the grids of its long windows by name; no
    window: of all of history.
    """

    frames: FrameSet
    scale: Scale
    long: Mapping[str, Even]

    @property
    def table(self) -> str:
        kind = "" if self.long else "history_"
        return f"{TIERS}/{kind}{spell(self.frames.width_us)}_by_{self.scale.base}"


def has_long_windows(bound: Bound, frames: FrameSet) -> bool:
    """Whether a set of frames may have tiers."""
    return _has_tiles(frames) and bool(_long(bound, frames))


def _long(bound: Bound, frames: FrameSet) -> dict[str, Even]:
    """The grids of the long windows of a set of frames."""
    tile_us = Scale(frames.width_us, BASE).span_us(1)
    grids = {name: bound.windows[name].even for name in frames.windows}
    return {name: even for name, even in grids.items() if even and LONG <= even.size_us / tile_us <= MOST}


def tiered(bound: Bound, frames: FrameSet, schema: pa.Schema | None) -> Tiered | None:
    """The tiers of a set of frames; None if it has none. `schema`: of the table of its states."""
    if not has_long_windows(bound, frames) or schema is None or not _regroup(bound, schema):
        return None
    return Tiered(frames, Scale(frames.width_us, BASE), _long(bound, frames))


def tiered_history(bound: Bound, frames: FrameSet, schema: pa.Schema | None) -> Tiered | None:
    """The tiers of all of history of a set of frames, for any range of time; None if it has none. `schema`:
    of the table of its states.

    Their level 1 is the shortest tile that is no shorter than `SHORTEST_US`.
    """
    if not _has_tiles(frames) or schema is None or not _regroup(bound, schema):
        return None
    scale = Scale(frames.width_us, BASE)
    while scale.span_us(1) < SHORTEST_US:
        scale = Scale(scale.span_us(1), BASE)
    return Tiered(frames, scale, {})


def _has_tiles(frames: FrameSet) -> bool:
    """Whether tiles can stand for the states: of frames of one width from 1970 on, without columns of a kind
    of windows.
    """
    return frames.is_even and not frames.by_arrival and not frames.lifts


def _regroup(bound: Bound, schema: pa.Schema) -> bool:
    """Whether all fields give the same bits in any order and groups, and no window needs to know which frame
    a value came in.
    """
    if any(each.carry for each in bound.aggregates.values()):
        return False
    names = {column for field in bound.fields for column in field.columns}
    return names <= set(schema.names) and all(field.regroups(schema) for field in bound.fields)
