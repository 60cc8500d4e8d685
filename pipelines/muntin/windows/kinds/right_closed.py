"""Windows `(start, end]`: an event at the end of a window belongs to it, as meters and pandas have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from muntin.definition.kinds import Cycle, Even, Follows
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.windows.clock import at_any_instant
from muntin.windows.kind import Plain, Window

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints

Closed = Literal["left", "right"]
OnGrid = TypeVar("OnGrid", bound=Plain)


@dataclass(frozen=True, slots=True)
class RightClosed(Plain):
    """The windows `(start, end]` of a kind on a grid: `[start, end)` for events a microsecond earlier."""

    kind: Window

    inside_us = beyond_us = outside_us = 1

    @property
    def grace_us(self) -> int:
        return self.kind.grace_us

    @property
    def follows(self) -> Follows:
        return self.kind.follows

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]] | None:
        return self.kind.grid

    @property
    def even(self) -> Even | None:
        return self.kind.even

    @property
    def dense(self) -> bool:
        return self.kind.dense

    @property
    def identity(self) -> str:
        return f"{type(self).__name__}({self.kind.identity})"

    def frame_us(self, grid_us: int) -> int:
        return self.kind.frame_us(grid_us)

    @property
    def cycle(self) -> Cycle:
        """The frames of the kind, a microsecond later."""
        cycle = self.kind.cycle or Cycle(self.frame_us(0), (0,))
        return Cycle(cycle.width_us, tuple(sorted((cut + 1) % cycle.width_us for cut in cycle.cuts_us)))

    def earliest(self, after_us: int, until_us: int) -> int:
        return self.kind.earliest(after_us, until_us)

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        return self.kind.assign(replace(frames, start=frames.start - 1), floor)

    def assign_between(self, frames: Frames, floor: Ints, after_us: int, until_us: int) -> Assignment:
        return self.kind.assign_between(replace(frames, start=frames.start - 1), floor, after_us, until_us)

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        return self.kind.windows_for(instant_us - 1)


def closed_at(closed: Closed, kind: OnGrid) -> OnGrid | RightClosed:
    """A kind on a grid as it is, or with windows `(start, end]`."""
    if closed not in get_args(Closed):
        raise DefinitionError(
            f'closed: {closed!r} is not understood; say "left" for windows [start, end), or "right" for '
            "windows (start, end]"
        )
    return RightClosed(kind) if closed == "right" else kind  # type: ignore[arg-type]  # a kind is a Window, too
