"""Ranges of time that no window was defined for: the states of each group of keys in each range, combined.

    ranges     [            )  [        )       [  )
    borders    |    |       |  |    |   |       |  |       all starts and ends; pieces lie between
                 0      1     2   3   4     5     6        a range is some neighbouring pieces

A range of a group is a block of its own, combined from left to right: its bits depend on its own states, not
on what else is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.engine.assignment import Assignment
from muntin.engine.protocols import Aggregate, Field
from muntin.engine.repeats import consecutive
from muntin.engine.windows import combined_fields, results
from muntin.states.columns import BATCH_POSITION, FRAME, INSTANT
from muntin.states.frames import NO_INTS, Ints, run_numbers, run_starts
from muntin.states.keys import codes_of, contiguous
from muntin.states.order import sorted_order, take_rows
from muntin.states.sorted import instants

AT_ONCE = 2**24
"""So many pairs of a range and a state are combined at once, or those of one range."""
NUMBER = "muntin_range"  # the column with the number of a row's range


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Ranges `[low, high)`, microseconds; none is empty."""

    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.low)

    def take(self, some: Ints | np.ndarray) -> Ranges:
        """Some of the ranges."""
        return Ranges(self.low[some], self.high[some])

    @property
    def borders(self) -> Ints:
        """All starts and ends, ascending, each once."""
        return np.union1d(self.low, self.high)

    def held(self) -> Ranges:
        """The pieces that lie in a range, ascending."""
        borders = self.borders
        change = np.zeros(len(borders), np.int64)
        np.add.at(change, np.searchsorted(borders, self.low), 1)
        np.subtract.at(change, np.searchsorted(borders, self.high), 1)
        held = np.flatnonzero(np.cumsum(change) > 0)
        return Ranges(borders[held], borders[held + 1])


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """States in the order of (group, frame, batch, key), and the piece that each lies in.

    Attributes:
        states: in that order; of one group, frame, batch and key in the order of arrival.
        group: of each state the number of its group, from 0.
        piece: of each state the number of its piece.
    """

    states: pa.Table
    group: Ints
    piece: Ints

    def combined(self, fields: Sequence[Field]) -> Placed:
        """One state for each group and piece, for fields that combine to the same bits in any groups."""
        heads = np.flatnonzero(run_starts(self.group, self.piece))
        columns = {
            name: column.take(pa.array(heads))
            for name, column in zip(self.states.column_names, self.states.columns, strict=True)
        }
        columns |= combined_fields(self.states, np.arange(len(self.states)), heads, fields)
        return Placed(pa.table(columns), self.group[heads], self.piece[heads])


def placed(states: pa.Table, keys: Sequence[str], by: Sequence[str], ranges: Ranges) -> Placed:
    """Put states in order, and find their pieces; states that lie in no range are left out.

    `states`: key columns, `frame`, `BATCH_POSITION` and the fields' columns; states of one key, frame and
    batch in order of arrival. `keys`: all key columns. `by`: the key columns that make groups; [] makes one
    group. `ranges`: the ranges asked for; no frame lies across their borders.
    """
    held, start = ranges.held(), instants(states[FRAME])
    at = np.searchsorted(held.low, start, side="right") - 1
    inside = (at >= 0) & (start < held.high[at]) if len(held) else np.zeros(len(start), np.bool_)
    if not inside.all():
        states, start = states.filter(pa.array(inside)), start[inside]
    key, group = (codes_of(states, names) for names in (keys, by))
    order = sorted_order(group, start, contiguous(states[BATCH_POSITION]).to_numpy(), key)
    piece = np.searchsorted(ranges.borders, start[order], side="right") - 1
    return Placed(take_rows(states, order), run_numbers(group[order]), piece)


def combined_ranges(
    placed_states: Placed,
    by: Sequence[str],
    ranges: Ranges,
    aggregates: Mapping[str, Aggregate],
) -> pa.Table:
    """The aggregates of each range and group that holds a state; without columns to group by, of each range.

    Returns the columns `by`, window_start, window_end, the aggregates, `NUMBER`; sorted by range, then group.
    """
    heads, tables = np.flatnonzero(run_starts(placed_states.group)), []
    for number, windows in assigned(placed_states, ranges, empty=not by):
        columns = {name: placed_states.states[name].take(pa.array(heads[windows.group])) for name in by}
        columns |= {
            "window_start": pa.array(windows.start).view(INSTANT),
            "window_end": pa.array(windows.end).view(INSTANT),
        }
        columns |= results(placed_states.states, windows, aggregates)
        tables.append(pa.table(columns | {NUMBER: pa.array(number)}))
    return pa.concat_tables(tables)


def assigned(
    placed_states: Placed, ranges: Ranges, *, empty: bool, at_once: int = AT_ONCE
) -> Iterator[tuple[Ints, Assignment]]:
    """The states of each range and group, some ranges at a time: the number of each window's range, and the
    assignment.

    `placed_states`: the states. `ranges`: for which they were placed. `empty`: whether a range without states
    is a window, too. `at_once`: see `AT_ONCE`.
    """
    borders = ranges.borders
    groups = max(int(placed_states.group[-1]) + 1 if len(placed_states.group) else 0, int(empty))
    begins = np.searchsorted(
        placed_states.group * len(borders) + placed_states.piece, np.arange(groups * len(borders))
    )  # of each group and piece
    first, behind = (np.searchsorted(borders, each) for each in (ranges.low, ranges.high))
    before = np.append(
        0, np.cumsum(np.bincount(placed_states.piece, minlength=len(borders)))
    )  # states before each border, of all groups
    share = np.cumsum(before[behind] - before[first] + groups) // at_once
    for some in np.split(np.arange(len(ranges)), np.flatnonzero(np.diff(share)) + 1):
        cells = np.arange(groups) * len(borders)
        lo, hi = (begins[cells + piece[some][:, None]].ravel() for piece in (first, behind))
        yield _blocks(
            ranges, np.repeat(some, groups), np.tile(np.arange(groups), len(some)), lo, hi, empty=empty
        )


def _blocks(
    ranges: Ranges, number: Ints, group: Ints, lo: Ints, hi: Ints, *, empty: bool
) -> tuple[Ints, Assignment]:
    """The assignment of ranges of groups, a block each; without ranges that hold no state, unless `empty`."""
    if not empty:
        held = np.flatnonzero(lo < hi)
        number, group, lo, hi = number[held], group[held], lo[held], hi[held]
    counts, none = hi - lo, NO_INTS
    order, ends = consecutive(lo, counts), np.cumsum(counts)
    begins, block = ends - counts, np.repeat(np.arange(len(counts)), counts)
    bounds = (ranges.low[number], ranges.high[number])
    return number, Assignment(order, block, group, *bounds, begins, begins, ends, none, none, none)
