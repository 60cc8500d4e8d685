"""The common part of windows of adjacent rows: their states, their columns, and the SQL that they read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from muntin.definition.expressions import Plain as PlainLift
from muntin.definition.kinds import Carried
from muntin.engine.assignment import Assignment
from muntin.windows.clock import at_any_instant
from muntin.windows.kind import Plain

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.engine.event_time.stretches import Marks
    from muntin.states.frames import Frames, Ints


class Adjacent(Plain):
    """Rows of a key by event time, then arrival, cut by what they say. A kind adds `marks` and parameters."""

    __slots__ = ()

    follows = Carried()
    beyond_us = 1  # an open window ends so far with its last row, and a window may lie at one instant

    def marks(self, columns: Mapping[str, pa.Array], rows: int) -> Marks:
        """The marks that cut the rows, from the columns of their states."""
        raise NotImplementedError

    @property
    def longest_us(self) -> int:
        """How long a window may be; 0: as long as it likes."""
        return 0

    @property
    def shortest_us(self) -> int:
        """How far behind its first row the last row of a window is at least."""
        return 0

    @property
    def columns(self) -> Mapping[str, str]:
        """`tie`, the number among windows that begin at one instant; and `cut`, where windows may be cut."""
        return {"tie": "int64"} | ({"cut": "bool"} if self.longest_us else {})

    @property
    def order(self) -> tuple[str, ...]:
        return ("window_start", "window_end", "tie")

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - each row is a state of its own
        return 1

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.arrival.reading import arrived_rows
        from muntin.engine.event_time.stretches import stretches

        marks = self.marks(arrived_rows(frames).columns, len(frames))
        return stretches(
            frames,
            marks,
            floor,
            longest_us=self.longest_us,
            least_us=self.shortest_us,
            lateness_us=self.lateness_us,
        )

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        """The window of a single event: it begins, and nothing says how long it lasts."""
        return [(instant_us, instant_us)]


def holds(condition: str) -> PlainLift:
    """The SQL aggregate of whether a condition holds in a row: where it is null, it does not."""
    truth = f"({condition})::BOOLEAN"
    return PlainLift(f"coalesce(bool_or({truth}), false)", "value", f"coalesce({truth}, false)")
