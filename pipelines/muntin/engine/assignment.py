"""An assignment says which states make which window.

The rows of the frames are put in an order, the order is cut into blocks, and a window is a range of it:

    place in order    0  1  2  3 | 4  5  6  7 | 8  9
    block             0  0  0  0 | 1  1  1  1 | 2  2
    a window                [lo   mid   hi)            lo = 2, mid = 4, hi = 7: rows order[2:7]
    a window in one block        [lo=mid   hi)         lo = mid = 4, hi = 8

A window touches two neighbouring blocks at most. So the end of one block (`order[lo:mid]`) and the beginning
of the next block (`order[mid:hi]`) make its result, and both are kept ready for all windows (see
`reduce.fold`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from muntin.states.frames import Ints


@dataclass(frozen=True, slots=True)
class Held:
    """The content of partitions after some batches: the next batch goes on from it. A note is made of it.

    Attributes:
        position, group, counters, base: of each note: the position of its batch, the partition, the counters
            of the partition, and the value that a delta trigger compares with.
        note, row: pairs: the number of a note, and a row of the frames that the partition holds.
        all_open: whether the windows of rows that are held are open. Else the windows of the assignment say
            which are.
    """

    position: Ints
    group: Ints
    counters: np.ndarray
    base: np.ndarray
    note: Ints
    row: Ints
    all_open: bool = True


@dataclass(frozen=True, slots=True)
class Assignment:
    """The windows over a set of frames. Window w combines the rows `order[lo[w]:hi[w]]`, then its late rows.

    Attributes:
        order: rows of the frames, in the order that ranges index.
        block: the block of each entry of `order`, ascending; a window touches two blocks at most.
        group, start, end: of each window; windows are sorted by (group, start, end). Instants in
            microseconds.
        lo, mid, hi: of each window; its second block begins at `mid`; a window in one block has `mid = lo`.
        late_window, late_row: pairs (window, row of the frames), sorted: late states that count in some of
            their windows only. They are combined after the range.
        missed: of each row of the frames, the number of windows that were closed before it came.
        closed: of each window, the position of the batch that closes it, for kinds whose ends do not say it;
            one past the last position: the window is open.
        more: columns of the kind, one value a window, in addition to the bounds.
        held: the content of partitions after some batches, for windows made of rows.
        final: as `closed`, of the last batch whose rows count in it; None: of the batch that closes it.
    """

    order: Ints
    block: Ints
    group: Ints
    start: Ints
    end: Ints
    lo: Ints
    mid: Ints
    hi: Ints
    late_window: Ints
    late_row: Ints
    missed: Ints
    closed: Ints | None = None
    more: Mapping[str, np.ndarray | pa.Array] = field(default_factory=dict)
    held: Held | None = None
    final: Ints | None = None

    def only(self, chosen: np.ndarray) -> Assignment:
        """The assignment of the chosen windows. `chosen`: whether each is."""
        import numpy as np
        import pyarrow as pa

        numbers, pairs = np.flatnonzero(chosen), chosen[self.late_window]
        number = np.cumsum(chosen) - 1  # of each window, among those kept
        more = {
            name: column.take(pa.array(numbers)) if isinstance(column, pa.Array) else column[numbers]
            for name, column in self.more.items()
        }
        return replace(
            self,
            **{name: getattr(self, name)[numbers] for name in ("group", "start", "end", "lo", "mid", "hi")},
            closed=None if self.closed is None else self.closed[numbers],
            final=None if self.final is None else self.final[numbers],
            more=more,
            late_window=number[self.late_window[pairs]],
            late_row=self.late_row[pairs],
        )

    @property
    def is_short(self) -> bool:
        """Whether all ranges together are no longer than `order`, so that going through each is cheapest."""
        return int(self.hi.sum()) - int(self.lo.sum()) <= len(self.order)
