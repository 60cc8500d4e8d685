"""Trailing windows: at the end of every month, some months up to it."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.oracle.calendar import Calendar


@dataclass(frozen=True)
class Trailing:
    """`months` windows of the calendar `month` in one, ending with each of them."""

    months: int
    month: Calendar

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """One for each month that ends from now on, as long as it looks back as far as `t`."""
        start, end = next(self.month.windows_for(t))
        for _ in range(1, self.months):
            start, _ = next(self.month.windows_for(start - 1))
        for _ in range(self.months):
            yield start, end
            (_, start), (_, end) = next(self.month.windows_for(start)), next(self.month.windows_for(end))

    def closed(self, end: int, watermark: float) -> bool:
        """As its months."""
        return self.month.closed(end, watermark)
