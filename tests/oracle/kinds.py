"""Which windows an event lies in (tumbling, sliding), which events are neighbours (session)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
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

    def closed(self, end: int, mark: float) -> bool:
        """The first instant after the window is `end` itself."""
        return mark >= end + self.grace


@dataclass(frozen=True)
class Tumbling:
    """Sliding by its own size; with a zone, `days` local days from `align_to` to `align_to`."""

    size: int
    grace: int = 0
    align_to: str = "00:00"
    timezone: str = "UTC"

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The one window that holds `t`."""
        if self.timezone == "UTC":
            yield from Sliding(self.size, self.size, align_to=self.align_to).windows_for(t)
            return
        first = (EPOCH + timedelta(microseconds=t)).date().toordinal() - self.days - 2
        borders = [self.border(n) for n in range(first, first + 2 * self.days + 6) if self.begins(n)]
        yield next((a, b) for a, b in pairwise(borders) if a <= t < b)

    @property
    def days(self) -> int:
        """Local windows are counted in whole days."""
        return self.size // DAY

    def begins(self, day: int) -> bool:
        """Whether a window begins on this local date; one does on 1970-01-01."""
        return (day - EPOCH.toordinal()) % self.days == 0

    def border(self, day: int) -> int:
        """`align_to` on that local date, the first one where clocks go back over it."""
        at = time.fromisoformat(self.align_to)
        return micros(datetime.combine(date.fromordinal(day), at, ZoneInfo(self.timezone)))

    def closed(self, end: int, mark: float) -> bool:
        """As sliding."""
        return mark >= end + self.grace


@dataclass(frozen=True)
class Session:
    """`[first, last + gap)`: neighbours no farther than `gap`, or with `touching="split"` nearer.

    With `max_length` a session ends that long after its first event at the latest, and another begins.
    """

    gap: int
    grace: int = 0
    touching: str = "merge"
    max_length: int | None = None

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

    def closed(self, end: int, mark: float) -> bool:
        """With merge an event at exactly `end` would still belong."""
        close = end + self.grace
        return mark > close if self.touching == "merge" else mark >= close


@dataclass(frozen=True)
class AllTime:
    """All events of a key; open for ever."""

    grace: int = 0
