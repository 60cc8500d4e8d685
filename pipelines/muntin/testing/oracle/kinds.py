"""Which windows an event lies in (tumbling, sliding), which events are neighbours (session)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from muntin.testing.oracle.time import Event, Row

SECOND = 1_000_000
DAY = 86_400 * SECOND
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(instant: datetime) -> int:
    """Whole microseconds since 1970 UTC."""
    return (instant - EPOCH) // timedelta(microseconds=1)


def clock(shown: str | int) -> int:
    """`"HH:MM"` as microseconds after midnight; a number is microseconds already."""
    if isinstance(shown, int):
        return shown
    hours, minutes = shown.split(":")
    return (int(hours) * 60 + int(minutes)) * 60 * SECOND


@dataclass(frozen=True)
class Sliding:
    """`[start, start + size)`, starts `step` apart, one of them `align_to` after 1970-01-01T00:00Z."""

    size: int
    step: int
    grace: int = 0
    align_to: str | int = "00:00"

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """Every window that holds `t`."""
        start = t - (t - clock(self.align_to)) % self.step
        while start + self.size > t:
            yield start, start + self.size
            start -= self.step

    def closed(self, end: int, watermark: float) -> bool:
        """The first instant after the window is `end` itself."""
        return watermark >= end + self.grace


@cache
def moment(shown: datetime, zone: str) -> int:
    """Instant at which clocks of the zone first show a time; of a skipped time, when they change."""
    at = micros(shown.replace(tzinfo=ZoneInfo(zone), fold=0))
    skipped = change(shown, zone)
    return (
        at
        if skipped <= 0
        else next(n for n in range(at - skipped, at + 1, SECOND) if offset(n, zone) == offset(at, zone))
    )


@cache
def change(shown: datetime, zone: str) -> int:
    """Microseconds by which clocks skip a time; below 0: they show it twice."""
    first, second = (micros(shown.replace(tzinfo=ZoneInfo(zone), fold=fold)) for fold in (0, 1))
    return first - second


def offset(at: int, zone: str) -> timedelta:
    """How far clocks of the zone are ahead of UTC."""
    return (EPOCH + timedelta(microseconds=at)).astimezone(ZoneInfo(zone)).utcoffset() or timedelta(0)


@dataclass(frozen=True)
class Tumbling:
    """Sliding by its own size; in a zone, from one time on its clocks to the next.

    They begin on 1970-01-01 at `align_to`, weeks on a Monday.
    """

    size: int
    grace: int = 0
    align_to: str | int = "00:00"
    timezone: str = "UTC"

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The one window that holds `t`."""
        if self.timezone == "UTC":
            yield from Sliding(self.size, self.size, align_to=self.align_to).windows_for(t)
            return
        shown = t + offset(t, self.timezone) // timedelta(microseconds=1)
        near, wide = shown // self.size, DAY // self.size + 2
        borders = sorted({border for n in range(near - wide, near + wide + 1) for border in self.borders(n)})
        yield next((a, b) for a, b in pairwise(borders) if a <= t < b)

    def borders(self, n: int) -> Iterator[int]:
        """Where window `n` since 1970 begins; a size that divides a change stays as it is."""
        shown = datetime(1970, 1, 1) + timedelta(microseconds=n * self.size + clock(self.align_to))  # noqa: DTZ001
        shown += timedelta(days=4 if self.size % (7 * DAY) == 0 else 0)
        by = change(shown, self.timezone)
        if by <= 0 or by % self.size:
            yield moment(shown, self.timezone)
        if by < 0 and by % self.size == 0:
            yield moment(shown, self.timezone) - by

    def closed(self, end: int, watermark: float) -> bool:
        """Whether a watermark has passed a window that ends there, and its grace."""
        return watermark >= end + self.grace


@dataclass(frozen=True)
class Session:
    """`[first, last + gap)`: neighbours no farther than `gap`, or with `touching="split"` nearer.

    With `max_length` a session ends that long after its first event at the latest, and another begins. With
    `until` it ends at the first instant of a row of which it is true.
    """

    gap: int
    grace: int = 0
    touching: str = "merge"
    max_length: int | None = None
    until: Callable[[Row], object] | None = None

    def chains(self, events: Sequence[Event]) -> list[list[Event]]:
        """One key's events, cut where they are too far apart."""
        chains: list[list[Event]] = []
        for event in sorted(events, key=lambda event: event.order):
            if chains and self.reaches(event.t - chains[-1][-1].t):
                chains[-1].append(event)
            else:
                chains.append([event])
        return chains

    def reaches(self, distance: int) -> bool:
        """Whether two neighbours are of one session."""
        return distance <= self.gap if self.touching == "merge" else distance < self.gap

    def closed(self, end: int, watermark: float) -> bool:
        """With merge an event at exactly `end` would still belong."""
        close = end + self.grace
        return watermark > close if self.touching == "merge" else watermark >= close


@dataclass(frozen=True)
class OwnGapSession:
    """Sessions of rows that each say until when they last."""

    reach: Callable[[Row], int]
    grace: int = 0
    touching: str = "merge"

    max_length = until = None

    def chains(self, events: Sequence[Event]) -> list[list[Event]]:
        """One key's events, cut where no event before reaches the next."""
        chains: list[list[Event]] = []
        for event in sorted(events, key=lambda event: event.order):
            end = max(self.reach(each.row) for each in chains[-1]) if chains else event.t - 1
            if event.t < end or (event.t == end and self.touching == "merge"):
                chains[-1].append(event)
            else:
                chains.append([event])
        return chains

    def closed(self, end: int, watermark: float) -> bool:
        """With merge an event at exactly `end` would still belong."""
        close = end + self.grace
        return watermark > close if self.touching == "merge" else watermark >= close


@dataclass(frozen=True)
class AllTime:
    """All events of a key; open for ever."""

    grace: int = 0
