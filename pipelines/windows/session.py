"""Session windows: events of a key nearer than a gap belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from pipelines.definition.durations import Duration, not_negative, positive
from pipelines.errors import DefinitionError

if TYPE_CHECKING:
    from pipelines.engine.frames import Frames
    from pipelines.windows.kind import Assignment, Ints

Touching = Literal["merge", "split"]


@dataclass(frozen=True, slots=True)
class Session:
    """`[first, last + gap)` of events whose neighbours are nearer than `gap` (`touching="merge"`: no farther)."""

    gap_us: int
    touching: Touching = "merge"
    grace_us: int = 0

    event_times = True
    reach_us = None

    @property
    def ends_inside(self) -> bool:
        return self.touching == "merge"

    @property
    def margin_us(self) -> int:
        return self.gap_us

    def frame_us(self, grid_us: int) -> int:
        """The widest frame no longer than the gap that divides the grid: its events always belong together."""
        least = -(-grid_us // self.gap_us)
        return next((grid_us // n for n in range(least, 10 * least) if n and grid_us % n == 0), self.gap_us)

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from pipelines.engine.chains import chains
        from pipelines.engine.labels import labelled

        reach = self.gap_us if self.touching == "merge" else self.gap_us - 1
        label, start, last = chains(frames, reach, self.gap_us, floor)
        return labelled(frames, label, start, last + self.gap_us)

    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        return [(instant_us, instant_us + self.gap_us)]


def session(gap: Duration, *, touching: Touching = "merge", grace: Duration = 0) -> Session:
    """Activity of a key between silences longer than `gap`.

    Args:
        gap: the silence that ends a session.
        touching: whether events exactly `gap` apart belong together: "merge" (Kafka, Flink, Spark, and Jet's
            documentation) or "split" (Jet's code).
        grace: how long after its end a session waits for late events.

    Raises:
        DefinitionError: a gap that is not positive, a negative grace, another word for `touching`.
    """
    if touching not in get_args(Touching):
        raise DefinitionError(f'touching: {touching!r} is not understood; say "merge" or "split"')
    return Session(positive(gap, "gap"), touching, not_negative(grace, "grace"))
