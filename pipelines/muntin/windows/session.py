"""Session windows: neighbouring events of a key that are nearer than a gap belong together."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from muntin.definition.durations import Duration, not_negative, positive, spell
from muntin.definition.kinds import Carried, Chained, Follows, FrameStates
from muntin.errors import DefinitionError
from muntin.windows.clock.instants import at_any_instant
from muntin.windows.kind import Plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.engine.assignment import Assignment
    from muntin.states.frames import Frames, Ints

Touching = Literal["merge", "split"]
CUT: Mapping[str, str] = MappingProxyType({"cut": "bool"})


@dataclass(frozen=True, slots=True)
class Session(Plain):
    """`[first, last + gap)` of events whose neighbours are nearer than `gap` (`touching="merge"`: no farther)."""

    gap_us: int
    touching: Touching = "merge"
    grace_us: int = 0

    made_of = FrameStates(event_times=True)

    @property
    def follows(self) -> Follows:
        return Chained(self.gap_us)

    @property
    def inside_us(self) -> int:
        return 1 if self.touching == "merge" else 0

    @property
    def joins_us(self) -> int:
        """The longest silence inside a session, microseconds."""
        return self.gap_us - 1 + self.inside_us

    @property
    def run_us(self) -> int:
        return self.joins_us

    def frame_us(self, grid_us: int) -> int:
        """The widest frame that divides the grid and is no wider than the gap: all its events belong to one session."""
        least = -(-grid_us // self.gap_us)
        return next((grid_us // n for n in range(least, 10 * least) if n and grid_us % n == 0), self.gap_us)

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.event_time.chains import chains
        from muntin.engine.event_time.disjoint import labelled

        label, start, last = chains(frames, self.joins_us, self.gap_us, floor)
        return labelled(frames, label, start, last + self.gap_us)

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        return [(instant_us, instant_us + self.gap_us)]


@dataclass(frozen=True, slots=True)
class LimitedSession(Session):
    """A session that is cut where it would grow longer than `max_length_us`; the next event begins another session."""

    max_length_us: int = 0

    @property
    def follows(self) -> Follows:
        return Carried()

    @property
    def columns(self) -> Mapping[str, str]:
        return CUT

    @property
    def run_us(self) -> int:
        return 0  # a cut may fall between any two events

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - a cut may fall between any two instants
        return 1

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.event_time.cuts import cut_chains
        from muntin.engine.event_time.disjoint import labelled

        label, start, end, cut, closed = cut_chains(frames, self.joins_us, self.gap_us, self.max_length_us, floor, self.inside_us)
        return labelled(frames, label, start, end, closed=closed, more={"cut": cut})


def session(gap: Duration, *, touching: Touching = "merge", max_length: Duration | None = None, grace: Duration = 0) -> Session:
    """Activity of a key between silences longer than `gap`.

    Args:
        gap: the silence that ends a session.
        touching: whether events exactly `gap` apart belong together: "merge" (Kafka, Flink, Spark, and Jet's
            documentation) or "split" (Jet's code).
        max_length: how long a session may be. A longer session is cut `max_length` after its first event, and the next
            event begins another session. The column `cut` is true if an event at the end would still have belonged to the
            session. Frames are then one microsecond wide.
        grace: how long after its end a session waits for late events.

    Raises:
        DefinitionError: a gap that is not positive or longer than `max_length`, a negative grace, an unknown `touching`.
    """
    if touching not in get_args(Touching):
        raise DefinitionError(f'touching: {touching!r} is not understood; say "merge" or "split"')
    gap_us, grace_us = positive(gap, "gap"), not_negative(grace, "grace")
    if max_length is None:
        return Session(gap_us, touching, grace_us)
    longest = positive(max_length, "max_length")
    if longest < gap_us:
        raise DefinitionError(
            f"max_length: {spell(longest)} is shorter than the gap, {spell(gap_us)}: every session would be cut; give at least that"
        )
    return LimitedSession(gap_us, touching, grace_us, longest)
