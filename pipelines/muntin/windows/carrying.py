"""Carrying windows: windows of any kind on a grid, in which values from before them last.

carry 2                x                            an event; it lasts to 2 behind it
windows           [    )[    )[    )[    )          of a dense definition three, though one holds the event
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Bounded
from muntin.engine.assignment import Assignment

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints


@dataclass(frozen=True, slots=True)
class Carrying:
    """The windows of a kind, in which values last that came up to `carry_us` before them."""

    window: Any
    carry_us: int

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the kind has
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.window, name)

    @property
    def behind_us(self) -> int:
        """How far behind the start of an event's frame a window may begin that the event's value lasts to."""
        frame_us: int = self.window.cycle.width_us if self.window.cycle else self.window.frame_us(0)
        return self.carry_us + frame_us

    @property
    def follows(self) -> Bounded:
        return Bounded(self.window.follows.reach_us + self.behind_us, self.behind_us)

    @property
    def identity(self) -> str:
        """The parameters; of a dense definition with `carry_us`, which decides which windows there are."""
        return (
            f"{self.window.identity}, dense over {self.carry_us}"
            if self.window.dense
            else str(self.window.identity)
        )

    def carrying(self, carry_us: int | None) -> Any:  # noqa: ANN401 - a kind
        return self.window.carrying(carry_us)

    def for_keys(self, keys: Any) -> Carrying:  # noqa: ANN401 - as the kind takes it
        return replace(self, window=self.window.for_keys(keys))

    def with_spans(self, read: Any) -> Carrying:  # noqa: ANN401 - as above
        return replace(self, window=self.window.with_spans(read))

    def below(self, home: Any) -> Carrying:  # noqa: ANN401 - as above
        return replace(self, window=self.window.below(home))

    def earliest(self, after_us: int, until_us: int) -> int:
        """An instant before which no event lies that windows depend on which end in a stretch."""
        return int(self.window.earliest(after_us, until_us)) - self.behind_us

    def batches_closing(self, when: Any, low_us: int, high_us: int) -> Ints:  # noqa: ANN401 - a rule of closing
        """The batches that close windows over the instants, or windows that values from there last to."""
        closing: Ints = self.window.batches_closing(when, low_us, high_us + self.behind_us)
        return closing

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        return self.assign_between(frames, floor, BEFORE_ALL, AFTER_ALL)

    def assign_between(self, frames: Frames, floor: Ints, after_us: int, until_us: int) -> Assignment:
        """The windows that end after an instant and up to another; of a dense definition also windows that
        values may last to.

        Windows that hold no event are there if they begin before time is known to: what is later may hold
        events yet.
        """
        windows: Assignment = self.window.assign_between(frames, floor, after_us, until_us)
        if not self.window.dense or not len(frames) or floor[-1] == BEFORE_ALL:
            return windows
        from muntin.engine.event_time.prefixes import with_reached

        known_us = int(floor[-1]) + (self.window.grace_us + self.window.lateness_us + self.window.inside_us)
        return with_reached(windows, frames, self.window, self.behind_us, (after_us, until_us), known_us)
