"""Unique sliding windows (KIP-450): one for each distinct set of records that lie within `size` of each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from muntin.testing.oracle.judgement import Held, Judgement, Windows, find
from muntin.testing.oracle.time import Event


@dataclass(frozen=True)
class Unique:
    """`[t - size, t]` for every time t of a key and, on change, `[t + r, t + r + size]` if it holds an event.

    Both ends belong to the window. Times are whole multiples of `resolution`, r.
    """

    size: int
    resolution: int = 1_000
    on: str = "change"
    grace: int = 0

    def floor(self, t: int) -> int:
        """The time that counts."""
        return t // self.resolution * self.resolution

    def defined_by(self, t: int) -> Iterator[tuple[int, int]]:
        """The windows that an event at `t` makes, if they are not closed and, the second one, if it holds something."""
        at = self.floor(t)
        yield at - self.size, at
        if self.on == "change":
            yield at + self.resolution, at + self.resolution + self.size

    def closed(self, end: int, watermark: float) -> bool:
        """An event one microsecond before `end + resolution` still counts as at `end`."""
        return watermark >= end + self.grace + self.resolution


@find.register
def unique(window: Unique, admitted: Sequence[Event], said: Judgement) -> Windows:
    """Each event makes its windows while they are open; what came by a window's closing and lies in it, it holds."""
    found: Windows = {}
    for maker in admitted:
        for start, end in window.defined_by(maker.t):
            last = said.last(window, end)
            if in_time(maker, last):
                own = [e for e in admitted if e.key == maker.key and start <= window.floor(e.t) <= end and in_time(e, last)]
                if own:
                    found[maker.key, start, end] = Held(said.closing(window, end), own)
        # no window that holds an event closes before the one that ends with it
        if not in_time(maker, said.last(window, window.floor(maker.t))):
            said.late[maker.batch].add(maker.arrival)
    return found


def in_time(event: Event, last: int | None) -> bool:
    """Whether an event came no later than the last batch that counts in a window."""
    return last is None or event.batch <= last
