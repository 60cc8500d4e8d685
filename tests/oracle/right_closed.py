"""Windows that are closed at their right: `(start, end]`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RightClosed:
    """The bounds of the windows of a kind; the end belongs to a window, the start does not."""

    kind: Any

    @property
    def probe(self) -> int:
        """As the kind has it."""
        return int(self.kind.probe)

    def windows_for(self, t: int) -> Iterator[tuple[int, int]]:
        """Of all windows with `t` at a bound or inside, those with `start < t <= end`."""
        near = {*self.kind.windows_for(t), *self.kind.windows_for(t - 1)}
        yield from sorted((start, end) for start, end in near if start < t <= end)

    def closed(self, end: int, watermark: float) -> bool:
        """An event at exactly `end` would still belong."""
        return bool(self.kind.closed(end, watermark - 1))
