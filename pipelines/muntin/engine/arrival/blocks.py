"""Ranges of blocks: how windows by arrival are cut so that they share what they combine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from muntin.engine.repeats import repeated
from muntin.states.frames import run_numbers, run_starts

if TYPE_CHECKING:
    from muntin.engine.arrival.fired import Fired
    from muntin.states.frames import Ints


class Ranges(NamedTuple):
    """The row ranges of an `Assignment`: window w is `order[lo[w]:hi[w]]`, and its second block begins at `mid[w]`."""

    order: Ints
    block: Ints
    lo: Ints
    mid: Ints
    hi: Ints


def ranges(group: Ints, found: Fired) -> Ranges:
    """Windows as ranges that span at most two blocks.

    Rows stand in `order` as they are. A window is a suffix of a block and a prefix of the next one, or such a prefix alone::

        rows     0  1  2  3 | 4  5  6  7 | 8  9
        block    1  1  1  1 | 2  2  2  2 | 3  3
        window         (2  3 . 4  5)                lo = 2, mid = 4, hi = 6
        window                (4  5  6)             lo = 4, mid = 4, hi = 7

    All other windows are *listed*: windows that span three blocks, lie inside a block, or do not hold every row from their first to
    their last. Their rows are repeated at the end, a block for each window::

        window            (3 . 4  5  6  7 . 8)
        order    0 .. 9 |  3   4  5  6  7   8       lo = 10, mid = 10, hi = 16
        block    1 .. 3 |  4   4  4  4  4   4

    Args:
        group: of each row, the partition; a block does not go beyond it.
        found: the windows.
    """
    if found.are_blocks:
        return Ranges(np.arange(len(group)), found.block, found.lo, found.lo, found.hi)
    begins = run_starts(group, found.block)
    block: Ints = np.cumsum(begins)
    rows, plain = np.arange(len(block)), Ranges(np.arange(len(block)), block, found.lo, found.lo, found.hi)
    if not len(rows):
        return plain
    mid, fits = _second_blocks(block, np.flatnonzero(begins), found.lo, found.hi)
    fits[np.unique(found.listed[:, 0])] = False
    plain = plain._replace(mid=mid)
    return plain if fits.all() else _with_listed(plain, np.flatnonzero(~fits), found)


def _second_blocks(block: Ints, heads: Ints, lo: Ints, hi: Ints) -> tuple[Ints, np.ndarray]:
    """Where the last block of each window begins, or the window itself; and whether the window is a suffix and a prefix."""
    empty = hi <= lo
    first_block, last_block = block[np.minimum(lo, len(block) - 1)], block[np.maximum(hi - 1, 0)]
    last_head = heads[last_block - 1]
    return np.where(empty, lo, np.maximum(last_head, lo)), empty | (last_block - first_block == 1) | (last_head == lo)


def _with_listed(plain: Ranges, listed: Ints, found: Fired) -> Ranges:
    """The ranges with the rows of the listed windows appended."""
    unlisted = listed[~np.isin(listed, found.listed[:, 0])]
    window, within = repeated(unlisted, found.hi[unlisted] - found.lo[unlisted])
    pairs = np.concatenate((found.listed, np.column_stack((window, found.lo[window] + within))))
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    lo, mid, hi = plain.lo.copy(), plain.mid.copy(), plain.hi.copy()
    lo[listed] = mid[listed] = len(plain.order) + np.searchsorted(pairs[:, 0], listed)
    hi[listed] = len(plain.order) + np.searchsorted(pairs[:, 0], listed, side="right")
    blocks = np.append(plain.block, plain.block[-1] + 1 + run_numbers(pairs[:, 0]))
    return Ranges(np.append(plain.order, pairs[:, 1]), blocks, lo, mid, hi)
