"""An assignment: which states make which window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pyarrow as pa

    from pipelines.states.frames import Ints


@dataclass(frozen=True, slots=True)
class Held:
    """What a partition's windows hold after a batch: enough to go on from there.

    Attributes:
        position, group, counters, base: of each note: the batch after which it is made, the partition, what is counted
            in it, and the value that a delta trigger compares with.
        note, row: pairs: a note, and a row of the frames that is held.
    """

    position: Ints
    group: Ints
    counters: np.ndarray
    base: np.ndarray
    note: Ints
    row: Ints


@dataclass(frozen=True, slots=True)
class Assignment:
    """The windows of a set of frames: window w is the combination of rows `order[lo[w]:hi[w]]`, plus its late rows.

    Attributes:
        order: rows of the frames, in the order that ranges index.
        block: for each entry of `order`, the block it lies in, ascending; no window spans more than two.
        group, start, end: of each window, sorted by (group, start, end); instants in microseconds.
        lo, mid, hi: of each window; `mid` is where its second block begins, `lo` if it has but one.
        late_window, late_row: pairs (window, row of the frames) of states that count in some of their windows
            only, sorted; they are added to what the range gives.
        missed: for each row of the frames, the number of windows it came too late for.
        closed: the position of the batch that closes each, where the end does not say; one past the last: none yet.
        more: what the kind says of each window beside its bounds, a column each.
        held: what arrival windows hold after some batches.
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
