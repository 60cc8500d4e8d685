"""Windows that are made of windows: they grow, look back, or are closed at their right."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from muntin.testing.oracle.calendar import Calendar
from muntin.testing.oracle.kinds import Tumbling


@dataclass(frozen=True)
class Cumulating:
    """The prefixes of the tumbling window of `max_size`, one at every border of the grid of `step`.

    Either is in microseconds, or words for so many months: "1mo", "12mo"; or a kind with its own borders.
    """

    max_size: int | str | Tumbling | Calendar
    step: int | str | Tumbling | Calendar
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

    def whole(self, size: int | str | Tumbling | Calendar, t: int) -> tuple[int, int]:
        """The tumbling window of that size which holds `t`."""
        if isinstance(size, Tumbling | Calendar):
            return next(size.windows_for(t))
        if isinstance(size, str):
            return next(
                Calendar(int(size.removesuffix("mo")), 0, self.align_to, self.timezone).windows_for(t)
            )
        return next(Tumbling(size, 0, self.align_to, self.timezone).windows_for(t))

    def closed(self, end: int, watermark: float) -> bool:
        """Whether a watermark has passed a window that ends there, and its grace."""
        return watermark >= end + self.grace


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
        """Whether a watermark has passed a window that ends there, and its grace."""
        return self.stretch.closed(end, watermark)


@dataclass(frozen=True)
class RightClosed:
    """The bounds of the windows of a kind; the end belongs to a window, the start does not."""

    kind: Any

    @property
    def probe(self) -> int:
        """Instants so far apart miss no window."""
        return int(self.kind.probe)

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """All windows near `t` with `start < t <= end`."""
        near = {*self.kind.windows_for(t), *self.kind.windows_for(t - 1)}
        yield from sorted((start, end) for start, end in near if start < t <= end)

    def closed(self, end: int, watermark: float) -> bool:
        """An event at exactly `end` would still belong."""
        return bool(self.kind.closed(end, watermark - 1))


@dataclass(frozen=True)
class Alone:
    """One window of a kind on a grid, of all that it has; no window if the kind has none of these bounds."""

    kind: Any
    start: int
    end: int

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The window, if it holds `t`."""
        is_right = isinstance(self.kind, RightClosed)
        inside = self.start < t <= self.end if is_right else self.start <= t < self.end
        if inside and self.exists:
            yield self.start, self.end

    @cached_property
    def exists(self) -> bool:
        """Whether the kind has a window of these bounds."""
        first = self.start + isinstance(self.kind, RightClosed)
        return (self.start, self.end) in self.kind.windows_for(first)

    def closed(self, end: int, watermark: float) -> bool:
        """Whether a watermark has passed a window that ends there, and its grace."""
        return bool(self.kind.closed(end, watermark))
