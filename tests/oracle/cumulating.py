"""Cumulating windows: one that grows by a step until it is full, then the next."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.oracle.kinds import DAY, Tumbling


@dataclass(frozen=True)
class Cumulating:
    """The prefixes of the tumbling window of `max_size`, one at every border of the grid of `step`."""

    max_size: int
    step: int
    grace: int = 0
    align_to: str = "00:00"
    timezone: str = "UTC"

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """Every prefix that reaches beyond `t`."""
        start, full = self.whole(self.max_size, t)
        yield from ((start, end) for end in self.borders(start, full) if t < end)

    def borders(self, start: int, full: int) -> Iterator[int]:
        """Where the prefixes of `[start, full)` end; the last is the whole of it, also where clocks change."""
        end = self.next(start)
        while end < full:
            yield end
            end = self.next(end)
        yield full

    def next(self, border: int) -> int:
        """Steps of whole days are local ones; shorter ones count from the window's start."""
        if self.timezone != "UTC" and self.step % DAY == 0:
            return self.whole(self.step, border)[1]
        return border + self.step

    def whole(self, size: int, t: int) -> tuple[int, int]:
        """The tumbling window of that size which holds `t`."""
        return next(iter(Tumbling(size, 0, self.align_to, self.timezone).windows_for(t)))

    def closed(self, end: int, mark: float) -> bool:
        """As tumbling."""
        return mark >= end + self.grace
