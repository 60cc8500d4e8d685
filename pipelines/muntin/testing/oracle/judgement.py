"""Windows that there must be, the events that each holds, and the events that came too late.

A program for windows that are there by the clock; other kinds register their own.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, Protocol

from muntin.testing.oracle.kinds import AllTime
from muntin.testing.oracle.time import Event

Name = tuple[tuple[Any, ...], int, int]
"""(key, start, end) of a window in event time."""


@dataclass
class Held:
    """A window's events, and the number of the batch that closes it; None: still open."""

    closing: int | None
    events: list[Event] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)
    """Columns of this kind alone."""


Windows = dict[Name, Held]


@dataclass
class Judgement:
    """The windows that must come out. `late[n]`: positions in batch n of rows that missed a window.

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
        return next(
            (
                n
                for n, watermark in enumerate(self.watermarks)
                if window.closed(end, watermark - self.lateness)
            ),
            None,
        )


class Window(Protocol):
    """A kind with its parameters. A kind by the clock has `windows_for(t)` and `closed(end, watermark)`."""

    grace: int


@singledispatch
def find(window: Any, admitted: Sequence[Event], said: Judgement) -> Windows:
    """Windows that each close with the first batch whose watermark has passed them; later rows are late."""
    windows: Windows = {}
    for event in admitted:
        for start, end in window.windows_for(event.t):
            last = said.last(window, end)
            if last is None or event.batch <= last:
                windows.setdefault((event.key, start, end), Held(said.closing(window, end))).events.append(
                    event
                )
            else:
                said.late[event.batch].add(event.arrival)
    return windows


@find.register
def all_time(_: AllTime, admitted: Sequence[Event], said: Judgement) -> Windows:  # noqa: ARG001 - asked for by name
    """One window for each key, from its first event to its last; nothing closes it."""
    windows: Windows = {}
    for key in {event.key for event in admitted}:
        own = [event for event in admitted if event.key == key]
        windows[key, min(event.t for event in own), max(event.t for event in own)] = Held(None, own)
    return windows
