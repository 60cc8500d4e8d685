"""What a window kind is to the rest of the house: a few numbers and one function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pyarrow as pa

    from pipelines.engine.frames import Frames

    Ints = np.ndarray[tuple[int], np.dtype[np.int64]]


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


class Window(Protocol):
    """A window kind. Everything else in the engine works with these names alone."""

    @property
    def grace_us(self) -> int:
        """How long after its end a window waits for late events."""
        ...

    @property
    def inside_us(self) -> int:
        """How far from its end on events may still belong: 0 for `[start, end)`; a window closes by `W >= end + inside + grace`."""
        ...

    @property
    def by_arrival(self) -> bool:
        """Whether windows go by the order in which rows came; states are then rows."""
        ...

    @property
    def carries(self) -> bool:
        """Whether what is open is carried over from batch to batch, as no stretch of time says which states matter."""
        ...

    @property
    def flushes(self) -> bool:
        """Whether what is open after the last batch comes out with it."""
        ...

    @property
    def together(self) -> bool:
        """Whether windows of different keys depend on each other, so that one task must work on them all."""
        ...

    @property
    def lifts(self) -> Mapping[str, str]:
        """Of windows by arrival: column of a state -> SQL aggregate that fills it from a row, beside the fields."""
        ...

    @property
    def event_times(self) -> bool:
        """Whether states must carry the times of their first and last event."""
        ...

    @property
    def reach_us(self) -> int | None:
        """How far back from its end a window may depend on events; None where only the data say so."""
        ...

    @property
    def margin_us(self) -> int:
        """How far beyond its last event a window may end."""
        ...

    @property
    def columns(self) -> Mapping[str, str]:
        """What results say beside window_start and window_end, in order: the names of `Assignment.more` and their types."""
        ...

    def frame_us(self, grid_us: int) -> int:
        """The natural frame width, given the finest width of the pipeline's other windows (0: there are none)."""
        ...

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        """The windows of `frames`. `floor[b]`: windows that end at or before it were closed before batch b came."""
        ...

    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        """The windows `(start, end)` that an event at this instant belongs to by itself, in microseconds."""
        ...

    def ends(self, low_us: int, high_us: int) -> tuple[int, int]:
        """The ends of the first and the last window that a change of events between two instants may touch."""
        ...


@runtime_checkable
class Gridded(Protocol):
    """A kind whose windows lie on a grid, whether they hold events or not."""

    def every(self, start_us: int, end_us: int) -> tuple[Ints, Ints]:
        """Start and end of every window from one that begins at an instant to one that ends at another."""
        ...
