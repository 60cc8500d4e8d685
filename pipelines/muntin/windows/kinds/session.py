"""Session windows: neighbouring events of a key that are nearer than a gap belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from muntin.definition.durations import DAY_US, Duration, not_negative, positive, spell
from muntin.definition.expressions import Plain as PlainLift
from muntin.definition.expressions import expression, stem
from muntin.definition.instants import AFTER_ALL
from muntin.definition.kinds import Carried, Chained, Follows, FrameStates
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.states.columns import EVENT_TIME, LAST_EVENT
from muntin.windows.adjacent_rows import holds
from muntin.windows.clock import at_any_instant
from muntin.windows.kind import Plain, lateness

if TYPE_CHECKING:
    import numpy as np

    from muntin.states.frames import Frames, Ints

LONGEST_US = 36_525 * DAY_US
"""A row with a longer gap is refused: a century."""


def reach_lift(gap_by: str, default_us: int) -> Mapping[str, str]:
    """The time until which the rows of a state reach, each by its own gap, in place of the time of its last
    event.

    A null stands for the default. What is no gap, as 0 or less, cannot be computed: such rows are refused.
    """
    text = f"({gap_by})::VARCHAR"  # for types: an expression has one of three, and each branch must fit all
    is_text = f"typeof({gap_by}) IN ('INTERVAL', 'VARCHAR')"
    given = f"CASE WHEN {is_text} THEN epoch_us(({text})::INTERVAL) ELSE round(({text})::DOUBLE * 1e6) END"
    refused = f"('gap_by is ' || {text})::BIGINT"
    own = f"WHEN ({given}) BETWEEN 1 AND {LONGEST_US} THEN ({given})::BIGINT ELSE {refused}"
    reach = f"{EVENT_TIME} + CASE WHEN ({gap_by}) IS NULL THEN {default_us} {own} END"
    return {LAST_EVENT: PlainLift(f"max({reach})", "greatest", reach)}


def until_lift(until: str) -> Mapping[str, str]:
    """Whether a row of a state ends its session."""
    return {until_column(until): holds(until)}


def until_column(until: str) -> str:
    """The column of states that says so."""
    return stem("until", until)


Touching = Literal["merge", "split"]
CUT: Mapping[str, str] = MappingProxyType({"cut": "bool"})
ENDED: Mapping[str, str] = MappingProxyType({"ended": "bool"})


@dataclass(frozen=True, slots=True)
class Session(Plain):
    """`[first, last + gap)` of events whose neighbours are nearer than `gap` (or as near, if merged)."""

    gap_us: int
    touching: Touching = "merge"
    grace_us: int = 0

    @property
    def made_of(self) -> FrameStates:
        return FrameStates(event_times=True)

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
        """The widest frame that divides the grid and is no wider than the gap: it lies in one session."""
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
class OwnGapSession(Session):
    """Sessions whose rows say their own gap: each row reaches as far as its gap, and intervals that meet are
    one session.

    `gap_us`: of rows without a gap; `gap_by`: a SQL expression of a row.
    """

    gap_by: str = ""

    @property
    def made_of(self) -> FrameStates:
        return FrameStates(
            event_times=True, lifts=reach_lift(self.gap_by, self.gap_us), needs=((self.gap_by, "duration"),)
        )

    @property
    def follows(self) -> Follows:
        return Chained(0)  # the last time of a state is the end of its last row's interval

    @property
    def run_us(self) -> int:
        return 0

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - a gap may be as short as a tick
        return 1

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.event_time.chains import chains
        from muntin.engine.event_time.disjoint import labelled

        label, start, end = chains(frames, self.inside_us - 1, 0, floor)
        return labelled(frames, label, start, end)


@dataclass(frozen=True, slots=True)
class LimitedSession(Session):
    """A session that is cut where it would grow longer than `max_length_us`, or behind a row that ends it.

    `max_length_us`: 0: no limit. `until`: a SQL condition of a row; "": no row ends a session. The next event
    begins another session.
    """

    max_length_us: int = 0
    until: str = ""

    @property
    def made_of(self) -> FrameStates:
        if not self.until:
            return FrameStates(event_times=True)
        return FrameStates(event_times=True, lifts=until_lift(self.until), needs=((self.until, "condition"),))

    @property
    def beyond_us(self) -> int:
        return 1 if self.until else 0  # a session ends at the row that ends it

    @property
    def follows(self) -> Follows:
        return Carried()

    @property
    def columns(self) -> Mapping[str, str]:
        return {**(CUT if self.max_length_us else {}), **(ENDED if self.until else {})}

    @property
    def run_us(self) -> int:
        return 0  # a cut may fall between any two events

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - a cut may fall between any two instants
        return 1

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.event_time.cuts import Rules, cut_chains
        from muntin.engine.event_time.disjoint import labelled

        rules = Rules(self.joins_us, self.gap_us, self.max_length_us or AFTER_ALL, self.inside_us)
        pieces = cut_chains(frames, rules, floor, self._ends(frames), self.lateness_us)
        more = {
            name: column
            for name, column in (("cut", pieces.cut), ("ended", pieces.ended))
            if name in self.columns
        }
        return labelled(frames, pieces.piece, pieces.start, pieces.end, closings=pieces.closings, more=more)

    def _ends(self, frames: Frames) -> np.ndarray:
        """Whether a row of each state ends its session."""
        import numpy as np

        if not self.until:
            return np.zeros(len(frames), np.bool_)
        assert frames.states is not None, "rows say what ends a session"  # noqa: S101 - the engine's own order
        return frames.states[until_column(self.until)].to_numpy()


def session(
    gap: Duration,
    *,
    gap_by: str | None = None,
    until: str | None = None,
    touching: Touching = "merge",
    max_length: Duration | None = None,
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    having: str | None = None,
) -> Session:
    """Events of a key that are at most `gap` apart make one window, which ends `gap` after its last event.

    Args:
        gap: the silence that ends a session.
        gap_by: the gap that a row says itself, a SQL expression: a number of seconds, an INTERVAL, or the
            text of an INTERVAL. The row lasts from its time to its gap later, and rows that meet are one
            session, so that a longer gap bridges. A row whose gap is null has `gap`; a row whose gap is 0,
            negative or longer than a century goes to the quarantine.
        until: a SQL condition that ends a session: the rows of the first instant at which a row fulfils it
            are its last, and the next row begins another session. The column `ended` is true if such a row
            ended the session; it then ends at this instant.
        touching: whether events exactly `gap` apart belong together: "merge" (Kafka, Flink, Spark, and Jet's
            documentation) or "split" (Jet's code).
        max_length: how long a session may be. A longer session is cut `max_length` after its first event, and
            the next event begins another session. The column `cut` is true if an event at the end would still
            have belonged to the session. Frames are then one microsecond wide.
        grace: how long after its end a session waits for late events.
        allowed_lateness: for how long after that late events revise the session, which is published already.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Raises:
        DefinitionError: a gap that is not positive or longer than `max_length`, a negative grace, an unknown
            `touching`, a text that is no SQL expression, or `gap_by` with another rule.
    """
    if touching not in get_args(Touching):
        raise DefinitionError(f'touching: {touching!r} is not understood; say "merge" or "split"')
    gap_us, grace_us = positive(gap, "gap"), not_negative(grace, "grace")
    if gap_by is not None:
        if max_length is not None or until is not None:
            raise DefinitionError(
                "gap_by: rows that say their own gap do not go with max_length or until; leave these out"
            )
        return OwnGapSession(
            gap_us,
            touching,
            grace_us,
            expression(gap_by, "gap_by"),
            having=having,
            lateness_us=lateness(allowed_lateness),
        )
    if max_length is None and until is None:
        return Session(gap_us, touching, grace_us, having=having, lateness_us=lateness(allowed_lateness))
    longest = positive(max_length, "max_length") if max_length is not None else 0
    if 0 < longest < gap_us:
        raise DefinitionError(
            f"max_length: {spell(longest)} is shorter than the gap, {spell(gap_us)}: every session would be "
            "cut; give at least that"
        )
    return LimitedSession(
        gap_us,
        touching,
        grace_us,
        longest,
        "" if until is None else expression(until, "until"),
        having=having,
        lateness_us=lateness(allowed_lateness),
    )
