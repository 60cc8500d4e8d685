"""Cumulating windows: one that grows by a step until it is full, then the next."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.oracle.calendar import Calendar
from tests.oracle.kinds import Tumbling


@dataclass(frozen=True)
class Cumulating:
    """The prefixes of the tumbling window of `max_size`, one at every border of the grid of `step`.

    Either is in microseconds, or words for so many months: "1mo", "12mo".
    """

    max_size: int | str
    step: int | str
    grace: int = 0
    align_to: str = "00:00"
    timezone: str = "UTC"

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """Every prefix that reaches beyond `t`; the last is the whole of it, also where clocks change."""
        start, full = self.whole(self.max_size, t)
        end = start
        while end < full:
            end = min(self.whole(self.step, end)[1], full)
            if t < end:
                yield start, end

    def whole(self, size: int | str, t: int) -> tuple[int, int]:
        """The tumbling window of that size which holds `t`."""
        if isinstance(size, str):
            return next(Calendar(int(size.removesuffix("mo")), 0, self.align_to, self.timezone).windows_for(t))
        return next(Tumbling(size, 0, self.align_to, self.timezone).windows_for(t))

    def closed(self, end: int, watermark: float) -> bool:
        """As tumbling."""
        return watermark >= end + self.grace
