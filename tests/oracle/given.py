"""Windows given by a table: every span that holds an instant."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """Spans `(start, end)` of all keys."""

    spans: tuple[tuple[int, int], ...]
    grace: int = 0

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """The spans that hold `t`."""
        yield from (span for span in self.spans if span[0] <= t < span[1])

    def closed(self, end: int, watermark: float) -> bool:
        """The first instant after the window is `end` itself."""
        return watermark >= end + self.grace
