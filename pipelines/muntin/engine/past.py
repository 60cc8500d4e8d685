"""Values that last: the value that holds when a window begins is the last value before it.

frames          [ a )    [   b   )    [ c )
a window                                     [            )     the last value of c, if not too old; else of b
came with         0          0          2     closed by 1       c came when the window was closed: b it is

A value is chosen by its own time, so that the width of frames decides nothing.

Rows out: a window whose aggregates are lists becomes a row for each of their items (IBM Streams, Sort).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.assignment import Assignment
from muntin.engine.protocols import Aggregate, Carry
from muntin.states.columns import ITEM_POSITION
from muntin.states.frames import Frames, Ints, compiled
from muntin.states.keys import contiguous


def exploded(windows: pa.Table, closed: Ints) -> tuple[pa.Table, Ints]:
    """A row for each item of a window's longest list. `ITEM_POSITION` is the item's place in the list, from
    0.

    Shorter lists of the window end in nulls.

    `windows`: a row a window; columns of lists are taken apart, all other columns are repeated. `closed`: a
    number of each window; repeated too.
    """
    from muntin.engine.repeats import repeated

    columns = {name: contiguous(windows[name]) for name in windows.column_names}
    lists = {name for name, column in columns.items() if pa.types.is_list(column.type)}
    lengths = [
        pc.fill_null(pc.list_value_length(columns[name]), 0).to_numpy(zero_copy_only=False)
        for name in sorted(lists)
    ]
    count = np.max([np.zeros(len(windows), np.int64), *lengths], axis=0).astype(np.int64)
    row, place = repeated(np.arange(len(windows)), count)
    out = {
        name: _items(column, row, place) if name in lists else column.take(pa.array(row))
        for name, column in columns.items()
    }
    out[ITEM_POSITION] = pa.array(place)
    return pa.table({name: out[name] for name in windows.column_names}), closed[row]


def _items(lists: pa.Array, row: Ints, place: Ints) -> pa.Array:
    """The item at a place of the list in a row; null behind the list's end."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    at = lists.offsets.to_numpy()[:-1][row] + place
    return lists.values.take(pa.array(at, mask=place >= lengths[row]))


@dataclass(frozen=True, slots=True)
class Past:
    """The states from which windows take values of the time before them.

    Attributes:
        states, frames: the states, and the same as frames, in one order.
        closed: of each window, the position of the last batch that counts in it: what came later is not known
            to the window.
        outside_us: how far behind its start a window begins to hold events; 1 for `(start, end]`.
    """

    states: pa.Table
    frames: Frames
    closed: Ints
    outside_us: int = 0

    def before(self, windows: Assignment, aggregate: Aggregate, carry: Carry) -> tuple[pa.Array, pa.Array]:
        """The time and the value of each window's last item before it, if not too old; else null."""
        time, value = _newest(self.states, aggregate, carry)
        rows = self._rows(windows, time, carry.us)
        chosen = pa.array(rows, mask=rows < 0)
        return time.take(chosen), value.take(chosen)

    def held(self, windows: Assignment, aggregates: Mapping[str, Aggregate]) -> np.ndarray:
        """Whether windows exist: a row is in it, or a value from before holds at its beginning."""
        there = windows.hi > windows.lo
        there[windows.late_window] = True
        if there.all() or not any(each.carry for each in aggregates.values()):
            return np.ones(len(there), np.bool_)
        return np.logical_or.reduce([there, *(rows >= 0 for rows in self.rows_before(windows, aggregates))])

    def rows_before(self, windows: Assignment, aggregates: Mapping[str, Aggregate]) -> list[Ints]:
        """For each aggregate with carry, the state with the last item before each window; -1 without."""
        carrying = ((each, each.carry) for each in aggregates.values() if each.carry)
        return [
            self._rows(windows, _newest(self.states, each, carry)[0], carry.us) for each, carry in carrying
        ]

    def _rows(self, windows: Assignment, time: pa.Array, carry_us: int) -> Ints:
        """The state with the last item before each window; -1 without any."""
        valid = time.is_valid().to_numpy(zero_copy_only=False)
        at, frames = time.fill_null(0).to_numpy(zero_copy_only=False), self.frames
        order = (windows.group, windows.start + self.outside_us, self.closed)
        oldest = windows.start - carry_us
        return _last_before(
            frames.group, frames.start, frames.batch, _nearest(frames.group, valid), at, *order, oldest
        )  # type: ignore[no-any-return]


def nothing_before(
    states: pa.Table, windows: int, aggregate: Aggregate, carry: Carry
) -> tuple[pa.Array, pa.Array]:
    """The time and the value before windows that have no past: nulls."""
    return tuple(pa.nulls(windows, part.type) for part in _newest(states, aggregate, carry))  # type: ignore[return-value]


def _newest(states: pa.Table, aggregate: Aggregate, carry: Carry) -> tuple[pa.Array, pa.Array]:
    """The time and the value of the last item of each state."""
    return carry.newest(
        *(contiguous(states[column]) for field in aggregate.fields for column in field.columns)
    )


@compiled
def _nearest(group, valid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
    """The last row up to each row, of its group, that has an item; -1 without any."""
    out = np.empty(len(group), np.int64)
    for row in range(len(group)):
        goes_on = row > 0 and group[row] == group[row - 1]
        out[row] = row if valid[row] else out[row - 1] if goes_on else -1
    return out


@compiled
def _last_before(group, start, batch, nearest, time, owner, begins, closed, oldest):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - compiled
    """Move a pointer along rows and windows, both sorted by group and start; from there go back to the last
    row that counts.

    Rows of a frame are searched for the latest time, of equal times for the last row. A frame that begins too
    early is the last frame that can hold an item that is not too old.
    """
    out, behind = np.full(len(owner), -1, np.int64), 0
    for window in range(len(owner)):
        mine, too_old = owner[window], oldest[window]
        while behind < len(group) and (
            group[behind] < mine or (group[behind] == mine and start[behind] < begins[window])
        ):
            behind += 1
        row, best = (nearest[behind - 1] if behind > 0 and group[behind - 1] == mine else -1), -1
        frame = start[row] if row >= 0 else 0
        while row >= 0:
            if start[row] != frame and (best >= 0 or frame <= too_old):
                break
            frame = start[row]
            if batch[row] <= closed[window] and (best < 0 or time[row] > time[best]):
                best = row
            row = nearest[row - 1] if row > 0 and group[row - 1] == mine else -1
        if best >= 0 and time[best] >= too_old:
            out[window] = best
    return out
