"""What a window kind is to the rest of the house: a few numbers and one function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

    from pipelines.engine.frames import Frames

    Ints = np.ndarray[tuple[int], np.dtype[np.int64]]


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


class Window(Protocol):
    """A window kind. Everything else in the engine works with these names alone."""

    @property
    def grace_us(self) -> int:
        """How long after its end a window waits for late events."""
        ...

    @property
    def ends_inside(self) -> bool:
        """Whether an event at exactly `end` may still belong: the window then closes by `W > end + grace`, else `>=`."""
        ...

    @property
    def event_times(self) -> bool:
        """Whether states must carry the times of their first and last event."""
        ...

    @property
    def reach_us(self) -> int | None:
        """How long a window is at most; None where only the data say so."""
        ...

    @property
    def margin_us(self) -> int:
        """How far beyond its last event a window may end."""
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
