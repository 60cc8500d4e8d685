"""The tiers that the work of a group of windows reads in place of states; see `timeline.tiers`.

                         first wanted window begins                     it ends
    frames   ...-----------[---------------------------------------------)---
    read                   .....|=====|=============|=============|==|....       . frames   |==| tiles

A tile stands for the states of all batches before the first wanted. States of later batches are read as they
are, wherever their frames lie, since they may be late for some windows. Frames before the first wanted window
are not needed.

How many states a task may have to read where nothing divides its work: it is refused before it takes the
machine's memory.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from muntin.definition.kinds import Even
from muntin.errors import StateError
from muntin.jobs.published.pending import Pending
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.tiered import Tiered, tiered
from muntin.store.store import File
from muntin.store.tier_files import files_of_rows, tiles_of
from muntin.timeline.batches import Batches
from muntin.timeline.closing import closing
from muntin.timeline.history import Work
from muntin.timeline.tiers import Stretch, cover, uncut, without

SETTING = "MUNTIN_TASK_STATES"
USUAL = 200_000_000


def check_states(pipeline: str, windows: Sequence[str], states: int) -> None:
    """Refuse work for one task over more states than `MUNTIN_TASK_STATES`, for windows that are derived
    together.
    """
    given = os.environ.get(SETTING, "")
    if given and not (given.isdecimal() and int(given)):
        raise StateError(f"{SETTING}: {given!r} is no number of states; write 50000000")
    most = int(given or USUAL)
    if states > most:
        raise StateError(
            f"{pipeline}: one task would have to read {states:,} states for {', '.join(windows)}, and"
            f" {SETTING} allows {most:,}: without keys, or where windows of keys depend on each other, work"
            " is not divided, and that of a rollup into few parts. Run fewer batches at once, give the"
            f" pipeline keys, or allow more where there is memory: {SETTING}={states}"
        )


@dataclass(frozen=True, slots=True)
class Tiers:
    """Tiles in place of states.

    Attributes:
        folder: of the files, below the state.
        files: path of each file, and the starts of the tiles to read, microseconds.
        rows: of all files.
        needed: stretches of time whose states are read, ascending; other states only of batches from the
            first wanted on.
        unfit: name -> work of the windows that have no size of their own, or several: states alone are read
            for them.
        spared: the files of states that are not read, thanks to tiers.
    """

    folder: str
    files: tuple[tuple[str, tuple[int, ...]], ...]
    rows: int
    needed: tuple[Stretch, ...]
    unfit: Mapping[str, Work]
    spared: tuple[str, ...] = ()

    def needs(self, low_us: int, high_us: int) -> bool:
        """Whether states with frames from a first to a last are read, whatever their batch."""
        return any(start <= high_us and low_us < end for start, end in self.needed)


def tiers_of(bound: Bound, group: Sequence[Pending], work: Work) -> Tiers | None:
    """The tiers for a group of windows over the same states; None if states alone are read.

    `work`: of the group together. Work over all of history, as for inspect, has no batch before the first
    wanted, and so no tiles.
    """
    tier_table = (
        tiered(bound, bound.frames_of(group[0].window), group[0].states.schema) if work.since else None
    )
    if tier_table is None or any(
        int(pending.work.positions[-1]) >= len(pending.watermarks_us) for pending in group
    ):
        return None
    unfit = {pending.window: pending.work for pending in group if bound.windows[pending.window].even is None}
    if len(unfit) == len(group):
        return None
    windows = [grid for pending in group if (grid := _ends(bound, pending))]
    begins = [first - even.size_us for even, (first, _) in windows] + [
        other.low_us for other in unfit.values()
    ]
    low = min([*begins, work.high_us])
    parts = uncut((low, work.high_us), windows) if low < work.high_us else []
    for other in unfit.values():
        parts = without(parts, (other.low_us, other.high_us))
    chosen, files = _chosen(bound, tier_table, group[0].history.batches.take(slice(0, work.since)), parts)
    if files is None:
        return None
    needed = tuple(without([(low, work.high_us)], *chosen)) if low < work.high_us else ()
    return Tiers(
        tier_table.table,
        tuple((file.path, starts) for file, starts in files),
        sum(file.rows for file, _ in files),
        needed,
        unfit,
    )


def _ends(bound: Bound, pending: Pending) -> tuple[Even, Stretch] | None:
    """The grid of a window, and the first and the last end of the wanted windows; None if none is wanted, or
    windows have no grid.
    """
    kind, positions = bound.windows[pending.window], pending.work.positions
    floor = closing(kind, pending.watermarks_us).floor
    ends = kind.even.ends(int(floor[positions[0]]), int(floor[positions[-1] + 1])) if kind.even else None
    return (kind.even, ends) if kind.even and ends else None


def _chosen(
    bound: Bound, tier_table: Tiered, before: Batches, parts: Sequence[Stretch]
) -> tuple[list[Stretch], list[tuple[File, tuple[int, ...]]] | None]:
    """The tiles over some parts of time: their stretches; and their files with the starts of tiles, None if a
    file is not in the table.

    `before`: the batches that tiles must be made of.
    """
    files, scale = bound.store.snapshot(tier_table.table).files, tier_table.scale
    valid_tiles = tiles_of(bound.table(tier_table.table), files).valid(scale, before)
    valid_tiles, by_place = valid_tiles.take(valid_tiles.usable), files_of_rows(files)
    chosen = cover(
        scale,
        parts,
        {level: np.sort(valid_tiles.at(level).number) for level in np.unique(valid_tiles.level).tolist()},
    )
    starts = defaultdict(list)
    for level, number in chosen:
        above = scale.span_us(level + 1)
        starts[level, number * scale.span_us(level) // above * above].append(number * scale.span_us(level))
    stretches = [
        (number * scale.span_us(level), (number + 1) * scale.span_us(level)) for level, number in chosen
    ]
    if not starts.keys() <= by_place.keys():
        return stretches, None
    return stretches, [(by_place[place], tuple(at)) for place, at in sorted(starts.items())]
