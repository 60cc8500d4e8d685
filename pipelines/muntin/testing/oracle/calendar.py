"""Months, quarters and years of a zone."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from muntin.testing.oracle.kinds import EPOCH, moment


@dataclass(frozen=True)
class Calendar:
    """`months` whole months, counted from January 1970; each begins on its first at `align_to`, local time.

    A datetime as `align_to` is a day of a month: some window begins there, and each on that day of its month.
    """

    months: int
    grace: int = 0
    align_to: str | datetime = "00:00"
    timezone: str = "UTC"

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The one window that holds `t`, found by trying every month that is near."""
        near = self.local(EPOCH + timedelta(microseconds=t))
        now = (near.year - 1970) * 12 + near.month - 1
        borders = [
            self.border(n)
            for n in range(now - 2 * self.months - 2, now + 2 * self.months + 3)
            if self.begins(n)
        ]
        start = max(border for border in borders if border <= t)
        yield start, min(border for border in borders if border > t)

    def begins(self, month: int) -> bool:
        """Whether a window begins in that month since January 1970."""
        return (month - self.phase) % self.months == 0

    def border(self, month: int) -> int:
        """The first of that month, or the day on which months begin."""
        return moment(
            self.first.replace(year=1970 + month // 12, month=1 + month % 12, tzinfo=None), self.timezone
        )

    @property
    def phase(self) -> int:
        """The month of `align_to`."""
        return (self.first.year - 1970) * 12 + self.first.month - 1

    @property
    def first(self) -> datetime:
        """A first of a month on which a window begins, in local time."""
        if isinstance(self.align_to, datetime):
            return self.local(self.align_to)
        hour, minute = map(int, self.align_to.split(":"))
        return datetime(1970, 1, 1, hour, minute, tzinfo=ZoneInfo(self.timezone))

    def local(self, instant: datetime) -> datetime:
        """Date and time that the zone shows."""
        return instant.astimezone(ZoneInfo(self.timezone))

    def closed(self, end: int, watermark: float) -> bool:
        """Whether a watermark has passed a window that ends there, and its grace."""
        return watermark >= end + self.grace


@dataclass(frozen=True)
class HalfMonths:
    """From the first of each month to its 15th day, and from the 16th on; at `align_to`, local time."""

    grace: int = 0
    align_to: str | datetime = "00:00"
    timezone: str = "UTC"

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The one window that holds `t`, among the halves of all months that are near."""
        whole = Calendar(1, 0, self.align_to, self.timezone)
        near = whole.local(EPOCH + timedelta(microseconds=t))
        now = (near.year - 1970) * 12 + near.month - 1
        firsts = [
            whole.first.replace(year=1970 + n // 12, month=1 + n % 12, tzinfo=None)
            for n in range(now - 3, now + 4)
        ]
        borders = [
            moment(first + timedelta(days=days), self.timezone) for first in firsts for days in (0, 15)
        ]
        yield (
            max(border for border in borders if border <= t),
            min(border for border in borders if border > t),
        )

    def closed(self, end: int, watermark: float) -> bool:
        """Whether a watermark has passed a window that ends there, and its grace."""
        return watermark >= end + self.grace
