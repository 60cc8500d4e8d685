"""Windows with holes between them: business days, the last part of a stretch, samples."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from muntin.testing.oracle.calendar import Calendar
from muntin.testing.oracle.kinds import DAY, EPOCH, Tumbling, clock, moment, offset

FIRST = EPOCH.replace(tzinfo=None)
FRIDAY = 5


@dataclass(frozen=True)
class BusinessDays:
    """The days of a zone that begin on a Monday to Friday."""

    grace: int = 0
    align_to: str | int = "00:00"
    timezone: str = "UTC"

    @property
    def probe(self) -> int:
        """Instants so far apart miss no window."""
        return DAY // 2

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The day that holds `t`, unless it is one of a weekend."""
        start, end = next(Tumbling(DAY, 0, self.align_to, self.timezone).windows_for(t))
        if (EPOCH + timedelta(microseconds=start) + offset(start, self.timezone)).isoweekday() <= FRIDAY:
            yield start, end

    def closed(self, end: int, watermark: float) -> bool:
        """Whether a watermark has passed a window that ends there, and its grace."""
        return watermark >= end + self.grace


@dataclass(frozen=True)
class Samples:
    """`[start, start + size)` for starts `step` apart, further than `size`."""

    size: int
    step: int
    grace: int = 0
    align_to: str | int = "00:00"

    @property
    def probe(self) -> int:
        """Instants so far apart miss no window."""
        return self.size // 2

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The window that holds `t`, if there is one."""
        start = t - (t - clock(self.align_to)) % self.step
        if t < start + self.size:
            yield start, start + self.size

    def closed(self, end: int, watermark: float) -> bool:
        """Whether a watermark has passed a window that ends there, and its grace."""
        return watermark >= end + self.grace


@dataclass(frozen=True)
class LastPart:
    """The last `part` of each month, or of each stretch of days or hours, on the clock of a zone."""

    part: int
    stretch: Calendar | Tumbling

    @property
    def probe(self) -> int:
        """Instants so far apart miss no window."""
        return self.part // 2

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The window of the end that is near, if it holds `t`."""
        for shown in self.ends(t):
            start, end = (
                moment(at, self.stretch.timezone) for at in (shown - timedelta(microseconds=self.part), shown)
            )
            if start <= t < end:
                yield start, end

    def ends(self, t: int) -> Iterator[datetime]:
        """Times on the clock at which stretches around `t` end."""
        near = (EPOCH + timedelta(microseconds=t) + offset(t, self.stretch.timezone)).replace(tzinfo=None)
        if isinstance(self.stretch, Calendar):
            now, wide = (near.year - 1970) * 12 + near.month - 1, 2 * self.stretch.months + 2
            months = [month for month in range(now - wide, now + wide) if self.stretch.begins(month)]
            yield from (
                self.stretch.first.replace(year=1970 + n // 12, month=1 + n % 12, tzinfo=None) for n in months
            )
        else:
            at, size = (
                FIRST + timedelta(microseconds=clock(self.stretch.align_to)),
                timedelta(microseconds=self.stretch.size),
            )
            yield from (at + ((near - at) // size + n) * size for n in (-1, 0, 1, 2))

    def closed(self, end: int, watermark: float) -> bool:
        """Whether a watermark has passed a window that ends there, and its grace."""
        return self.stretch.closed(end, watermark)
