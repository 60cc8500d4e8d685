"""Tiles over pieces of time against a program that looks at each instant."""

import random

import numpy as np

from muntin.engine.ranges import Ranges
from muntin.timeline.covering import bounds, covering, left, within
from muntin.timeline.tiers import Scale, Tiles

SCALE = Scale(1, 2)
END = 64


def drawn(dice: random.Random) -> tuple[Ranges, Tiles]:
    """Some ranges, and some of the tiles of 2 to 16 instants."""
    pairs = [sorted(dice.sample(range(END), 2)) for _ in range(dice.randint(1, 4))]
    tiles = [(level, number) for level in range(1, 5) for number in range(END >> level) if dice.random() < 0.7]
    level, number = np.array(tiles, np.int64).reshape(-1, 2).T
    known = Tiles(level, number, np.ones(len(tiles), np.uint64), np.ones(len(tiles), np.bool_))
    return Ranges(*np.array(pairs, np.int64).T), known


def test_the_fewest_tiles_and_what_they_leave() -> None:
    dice = random.Random(0)
    for _ in range(300):
        ranges, tiles = drawn(dice)
        held = ranges.held()
        asked = [any(low <= at < high for low, high in zip(ranges.low, ranges.high, strict=True)) for at in range(END)]
        assert within(np.arange(END), held.low, held.high).tolist() == asked
        chosen = covering(SCALE, held.low, held.high, tiles)
        begins, ends = bounds(SCALE, chosen)
        starts, stops = left(held.low, held.high, begins, ends)
        covered, rest = within(np.arange(END), begins, ends), within(np.arange(END), starts, stops)
        assert (covered | rest).tolist() == asked
        assert not (covered & rest).any()
        borders = {*ranges.low.tolist(), *ranges.high.tolist()}
        assert all(not borders & {*range(low + 1, high)} for low, high in zip(begins.tolist(), ends.tolist(), strict=True))
        assert not _larger(tiles, chosen, asked, borders)


def _larger(tiles: Tiles, chosen: Tiles, asked: list[bool], borders: set[int]) -> list[tuple[int, int]]:
    """The tiles that would do and that none of the chosen is or holds."""
    mine = [(level, number) for level, number in zip(chosen.level.tolist(), chosen.number.tolist(), strict=True)]
    found = []
    for level, number in zip(tiles.level.tolist(), tiles.number.tolist(), strict=True):
        span = range(number << level, (number + 1) << level)
        fits = all(asked[at] for at in span) and not borders & {*span[1:]}
        if fits and not any(level <= other and number >> (other - level) == above for other, above in mine):
            found.append((level, number))
    return found
