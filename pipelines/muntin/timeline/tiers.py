"""Tiers: in addition to the states of frames, combinations of the states of neighbouring frames, so that long
windows read few of them.

    frames     | 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|     level 0
    tiles      |     0     |     1     |     2     |     level 1 of base 4; of level 2 a tile spans 16
    a window         [                       )           frames 2 and 3, tile 1, frames 8 and 9

Tiles are anchored: tile k of a level spans `[k, k + 1)` times its length. The name of a tile stands for the
batches that it was made of. If the history gives another name, the tile is not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from muntin.definition.kinds import Even
from muntin.states.frames import NO_INTS, Ints
from muntin.states.keys import scattered
from muntin.timeline.batches import Batches, Versions

Stretch = tuple[int, int]  # [low, high), microseconds
_LEVELS = 64  # more than there are


@dataclass(frozen=True, slots=True)
class Scale:
    """How long tiles are. `width_us`: of a frame; `base`: tiles of a level in a tile of the next level."""

    width_us: int
    base: int

    def span_us(self, level: int) -> int:
        """The length of a tile."""
        return self.width_us * self.base**level

    def levels(self, longest_us: int) -> range:
        """The levels whose tiles fit into a window, without level 0."""
        level = 0
        while self.span_us(level + 1) <= longest_us:
            level += 1
        return range(1, level + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Tiles:
    """Some tiles.

    Attributes:
        level, number: which tiles.
        name: of the batches that each was made of; see `names`.
        usable: whether the combination gives the bits that the states give.
    """

    level: Ints
    number: Ints
    name: Versions
    usable: np.ndarray

    def __len__(self) -> int:
        return len(self.level)

    def take(self, rows: Ints | np.ndarray) -> Tiles:
        return Tiles(self.level[rows], self.number[rows], self.name[rows], self.usable[rows])

    def at(self, level: int) -> Tiles:
        return self.take(self.level == level)

    def valid(self, scale: Scale, batches: Batches) -> Tiles:
        """The tiles whose name stands for the batches."""
        same = np.zeros(len(self), np.bool_)
        for level in np.unique(self.level).tolist():
            rows = np.flatnonzero(self.level == level)
            same[rows] = self.name[rows] == names(scale, level, self.number[rows], batches)
        return self.take(same)

    def among(self, other: Tiles) -> np.ndarray:
        """Whether another set has each tile, by level and number."""
        ours, theirs = (tiles.number * _LEVELS + tiles.level for tiles in (self, other))
        return np.isin(ours, theirs)

    @staticmethod
    def joined(parts: Iterable[Tiles]) -> Tiles:
        columns = zip(
            *((part.level, part.number, part.name, part.usable) for part in (NO_TILES, *parts)), strict=True
        )
        return Tiles(*(np.concatenate(column) for column in columns))


NO_TILES = Tiles(NO_INTS, NO_INTS, np.empty(0, np.uint64), np.empty(0, np.bool_))


def names(scale: Scale, level: int, numbers: Ints, batches: Batches) -> Versions:
    """The name of each tile: the sum, modulo 2^64, of a hash of each batch with frames between its first and
    its last in the tile.

    0 where no batch has.
    """
    if not len(numbers):
        return np.empty(0, np.uint64)
    span, (ascending, place) = scale.span_us(level), np.unique(numbers, return_inverse=True)
    first = np.searchsorted(ascending, batches.low_us // span)
    behind = np.searchsorted(ascending, batches.high_us // span, side="right")
    there = np.flatnonzero(first < behind)
    hashed = scattered(scattered(batches.start_us[there]) ^ batches.version[there])
    change = np.zeros(len(ascending) + 1, np.uint64)  # from each tile to the next
    np.add.at(change, first[there], hashed)
    np.subtract.at(change, behind[there], hashed)
    return np.cumsum(change, dtype=np.uint64)[place]


def uncut(stretch: Stretch, windows: Iterable[tuple[Even, Stretch]]) -> list[Stretch]:
    """The parts of a stretch in which no wanted window begins or ends: there a tile lies in the same windows
    as all its frames.

    `windows`: the grid of each kind, and the first and the last end of its wanted windows.
    """
    begins_and_ends = (
        each
        for even, (first, last) in windows
        for each in ((first - even.size_us, last - even.size_us), (first, last))
    )
    return without([stretch], *begins_and_ends)


def without(parts: Iterable[Stretch], *gone: Stretch) -> list[Stretch]:
    """The rest of some time ranges without other time ranges, ascending.

    >>> without([(0, 10), (20, 30)], (4, 5), (8, 25))
    [(0, 4), (5, 8), (25, 30)]
    """
    left = list(parts)
    for low, high in gone:
        before = ((start, min(end, low)) for start, end in left)
        after = ((max(start, high), end) for start, end in left)
        left = [(start, end) for start, end in (*before, *after) if start < end]
    return sorted(left)


def cover(scale: Scale, parts: Sequence[Stretch], usable: Mapping[int, Ints]) -> list[tuple[int, int]]:
    """The fewest tiles that cover as much as they can: (level, number).

    `scale`: of the tiles. `parts`: stretches of time. `usable`: level -> numbers of tiles, ascending.
    """
    chosen, left = list[tuple[int, int]](), list(parts)
    for level in sorted(usable, reverse=True):
        span, numbers, rest = scale.span_us(level), usable[level], list[Stretch]()
        for low, high in left:
            inside = numbers[
                np.searchsorted(numbers, -(-low // span)) : np.searchsorted(numbers, high // span)
            ].tolist()
            chosen += [(level, number) for number in inside]
            borders = [
                low,
                *(border for number in inside for border in (number * span, (number + 1) * span)),
                high,
            ]
            rest += [
                (start, end) for start, end in zip(borders[::2], borders[1::2], strict=True) if start < end
            ]
        left = rest
    return chosen


def due(scale: Scale, floors: Sequence[tuple[Even, int]], batches: Batches) -> Tiles:
    """The tiles that the next windows may read.

                          |<----- longest window ----->| floor: windows that end here are closed
        level 1 and more    |======|======|======|=====|
        level 0           |--|--|                        where the next windows begin: old files are large

    `scale`: of the tiles. `floors`: the grid of each kind of long windows, and the instant up to which its
    windows are closed. `batches`: the history.
    """
    longest = max(even.size_us for even, _ in floors)
    settled = min(floor for _, floor in floors)
    begins = np.unique([(floor - even.size_us) // scale.span_us(1) for even, floor in floors])
    parents = np.union1d(begins, begins + 1)  # of level 1
    numbers = {0: (parents[:, None] * scale.base + np.arange(scale.base)).ravel()}
    for level in scale.levels(longest):
        span = scale.span_us(level)
        numbers[level] = np.arange(-(-(settled - longest) // span), settled // span)
    levels = ((level, at, names(scale, level, at, batches)) for level, at in numbers.items())
    tiles = Tiles.joined(
        Tiles(np.full(len(at), level), at, name, np.ones(len(at), np.bool_)) for level, at, name in levels
    )
    return tiles.take(tiles.name != 0)


def newest(scale: Scale, tiles: Tiles, low_us: Ints, high_us: Ints, rows: Ints, most: int) -> Tiles:
    """The newest of some tiles of level 0 and 1, as many as files with so many rows hold the states of; at
    least one tile's.

    `scale`: of the tiles. `tiles`: to choose from. `low_us`, `high_us`, `rows`: of each file: starts of its
    first and its last frame, its rows. `most`: so many rows.
    """
    numbers = tiles.number // scale.base ** (1 - tiles.level)  # of the tiles of level 1 that hold them
    ascending, span = np.unique(numbers), scale.span_us(1)
    place = np.searchsorted(ascending, high_us // span, side="right") - 1  # of the newest that a file touches
    touching = np.flatnonzero((place >= 0) & (ascending[place] >= low_us // span))
    added = np.bincount(place[touching], weights=rows[touching], minlength=len(ascending))[::-1].cumsum()
    return tiles.take(
        np.isin(numbers, ascending[::-1][: max(1, int(np.searchsorted(added, most, side="right")))])
    )


def joined_stretches(scale: Scale, tiles: Tiles) -> list[Stretch]:
    """Time ranges of the level-1 parents of tiles; adjacent ranges merged."""
    numbers = np.unique(tiles.number // scale.base ** (1 - tiles.level))
    begins = np.flatnonzero(np.append(True, np.diff(numbers) > 1))
    span = scale.span_us(1)
    lasts = np.append(begins[1:], len(numbers)) - 1
    return [
        (first * span, (last + 1) * span)
        for first, last in zip(numbers[begins].tolist(), numbers[lasts].tolist(), strict=True)
    ]
