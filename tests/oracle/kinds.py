"""Which windows an event lies in (tumbling, sliding), which events are neighbours (session)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from tests.oracle.time import Event

SECOND = 1_000_000
DAY = 86_400 * SECOND
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(instant: datetime) -> int:
    """Whole microseconds since 1970 UTC."""
    return (instant - EPOCH) // timedelta(microseconds=1)


def clock(text: str) -> int:
    """`"HH:MM"` as microseconds after midnight."""
    hours, minutes = text.split(":")
    return (int(hours) * 60 + int(minutes)) * 60 * SECOND


@dataclass(frozen=True)
class Sliding:
    """`[start, start + size)`, starts `step` apart, one of them `align_to` after 1970-01-01T00:00Z."""

    size: int
    step: int
    grace: int = 0
    align_to: str = "00:00"

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
    """When clocks of the zone show this for the first time; what they skip is the moment of the change."""
    at = micros(shown.replace(tzinfo=ZoneInfo(zone), fold=0))
    skipped = change(shown, zone)
    return at if skipped <= 0 else next(n for n in range(at - skipped, at + 1, SECOND) if offset(n, zone) == offset(at, zone))


@cache
def change(shown: datetime, zone: str) -> int:
    """By how much clocks go forward over this time (it is never shown), or back (below 0: it is shown twice); else 0."""
    first, second = (micros(shown.replace(tzinfo=ZoneInfo(zone), fold=fold)) for fold in (0, 1))
    return first - second


def offset(at: int, zone: str) -> timedelta:
    """How far clocks of the zone are ahead of UTC."""
    return (EPOCH + timedelta(microseconds=at)).astimezone(ZoneInfo(zone)).utcoffset() or timedelta(0)


@dataclass(frozen=True)
class Tumbling:
    """Sliding by its own size; in a zone, from one time on its clocks to the next, on 1970-01-01 at `align_to`, of weeks on a Monday."""

    size: int
    grace: int = 0
    align_to: str = "00:00"
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
        """Where window `n` since 1970 begins; a size that divides a change of the clocks is as long as ever during it."""
        shown = datetime(1970, 1, 1) + timedelta(microseconds=n * self.size + clock(self.align_to))  # noqa: DTZ001
        shown += timedelta(days=4 if self.size % (7 * DAY) == 0 else 0)
        by = change(shown, self.timezone)
        if by <= 0 or by % self.size:
            yield moment(shown, self.timezone)
        if by < 0 and by % self.size == 0:
            yield moment(shown, self.timezone) - by

    def closed(self, end: int, watermark: float) -> bool:
        """As sliding."""
        return watermark >= end + self.grace


@dataclass(frozen=True)
class Session:
    """`[first, last + gap)`: neighbours no farther than `gap`, or with `touching="split"` nearer.

    With `max_length` a session ends that long after its first event at the latest, and another begins. With `until` it ends at the first
    instant at which a row has this value of `v`.
    """

    gap: int
    grace: int = 0
    touching: str = "merge"
    max_length: int | None = None
    until: int | None = None

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
    """Sessions of rows that say their own gap: some of `unit`, as many as `v` says; without `v` it is `gap`."""

    gap: int
    unit: int
    grace: int = 0
    touching: str = "merge"

    max_length = until = None

    def reach(self, row: Mapping[str, Any]) -> int:
        """Until when a row lasts."""
        return int(row["t"]) + (self.gap if row["v"] is None else (abs(row["v"]) % 6 + 1) * self.unit)

    @property
    def sql(self) -> str:
        """The gap of a row, for users."""
        return f"to_microseconds((abs(v) % 6 + 1) * {self.unit})"

    def chains(self, events: Sequence[Event]) -> list[list[Event]]:
        """One key's events, cut where none of those before reaches the next."""
        chains: list[list[Event]] = []
        for event in sorted(events, key=lambda event: event.order):
            end = max(map(self.reach, (each.row for each in chains[-1]))) if chains else event.t - 1
            if event.t < end or (event.t == end and self.touching == "merge"):
                chains[-1].append(event)
            else:
                chains.append([event])
        return chains

    def closed(self, end: int, watermark: float) -> bool:
        """As sessions of one gap."""
        close = end + self.grace
        return watermark > close if self.touching == "merge" else watermark >= close


@dataclass(frozen=True)
class AllTime:
    """All events of a key; open for ever."""

    grace: int = 0
