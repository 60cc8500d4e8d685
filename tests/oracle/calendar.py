"""Months, quarters and years of a zone."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from tests.oracle.kinds import EPOCH, moment


@dataclass(frozen=True)
class Calendar:
    """`months` whole months, counted from January 1970; each begins on its first at `align_to`, local time.

    A datetime as `align_to` is the first of a month: some window begins there.
    """

    months: int
    grace: int = 0
    align_to: str | datetime = "00:00"
    timezone: str = "UTC"

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The one window that holds `t`, found by trying every month that is near."""
        near = self.local(EPOCH + timedelta(microseconds=t))
        now = (near.year - 1970) * 12 + near.month - 1
        borders = [self.border(n) for n in range(now - 2 * self.months - 2, now + 2 * self.months + 3) if self.begins(n)]
        start = max(border for border in borders if border <= t)
        yield start, min(border for border in borders if border > t)

    def begins(self, month: int) -> bool:
        """Whether a window begins in that month since January 1970."""
        return (month - self.phase) % self.months == 0

    def border(self, month: int) -> int:
        """The first of that month."""
        return moment(self.first.replace(year=1970 + month // 12, month=1 + month % 12, tzinfo=None), self.timezone)

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
        """What calendars and clocks of the zone show."""
        return instant.astimezone(ZoneInfo(self.timezone))

    def closed(self, end: int, watermark: float) -> bool:
        """As tumbling."""
        return watermark >= end + self.grace
