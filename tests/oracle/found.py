"""What an oracle says: which windows there are, what they hold, who came too late."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.time import Event

Name = tuple[tuple[Any, ...], int, int]
"""(key, start, end) of a window in event time."""


@dataclass
class Held:
    """A window's events, and the number of the batch that closes it; None: still open."""

    closing: int | None
    events: list[Event] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)
    """Columns of this kind alone."""


Found = dict[Name, Held]


@dataclass
class Judgement:
    """What must come out. `late[n]`: positions in batch n of rows that missed a window.

    `correcting[n]`: of rows that missed none, and count in a window that was published before they came.
    """

    watermarks: list[float]
    lateness: int = 0
    """For how long after its closing rows that come revise a window."""
    published: list[dict[str, Any]] = field(default_factory=list)
    still_open: list[dict[str, Any]] = field(default_factory=list)
    late: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    correcting: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def closing(self, window: Any, end: int) -> int | None:
        """The first batch whose watermark has passed the window's end."""
        return next((n for n, watermark in enumerate(self.watermarks) if window.closed(end, watermark)), None)

    def last(self, window: Any, end: int) -> int | None:
        """The last batch whose rows count in the window; None: rows of later batches may."""
        return next((n for n, watermark in enumerate(self.watermarks) if window.closed(end, watermark - self.lateness)), None)
