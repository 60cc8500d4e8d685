"""Trailing windows: at the end of every month, or of every day, some of them up to it."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.oracle.calendar import Calendar
from tests.oracle.kinds import Tumbling


@dataclass(frozen=True)
class Trailing:
    """`count` windows of `stretch` in one, ending with each of them."""

    count: int
    stretch: Calendar | Tumbling

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """One for each stretch that ends from now on, as long as it looks back as far as `t`."""
        start, end = next(self.stretch.windows_for(t))
        for _ in range(1, self.count):
            start, _ = next(self.stretch.windows_for(start - 1))
        for _ in range(self.count):
            yield start, end
            (_, start), (_, end) = next(self.stretch.windows_for(start)), next(self.stretch.windows_for(end))

    def closed(self, end: int, watermark: float) -> bool:
        """As its stretches."""
        return self.stretch.closed(end, watermark)
