"""Values that last, by a loop over raw events: what holds when a window begins, and until when each value holds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from muntin.testing.oracle.composed import RightClosed
from muntin.testing.oracle.judgement import Held, Judgement, Windows, find
from muntin.testing.oracle.time import Event, Row
from tests.oracle.catalogue import added, double, exact, risen

Of = Callable[[Row], Any]


@dataclass(frozen=True)
class Span:
    """A window as an aggregate of values that last sees it.

    Attributes:
        start, end: of the window.
        events: its events, by event time, then arrival.
        earlier: the events of its key before it that came in time, in the same order.
    """

    start: int
    end: int
    events: Sequence[Event]
    earlier: Sequence[Event]

    def before(self, of: Of, carry: int) -> Any:
        """The last value before the window that is not too old when it begins; None without any."""
        known = [event for event in self.earlier if of(event.row) is not None]
        return of(known[-1].row) if known and known[-1].t >= self.start - carry else None

    def pieces(self, of: Of, carry: int) -> list[tuple[Any, int]]:
        """Each value, and how long it holds: until the next one comes, or the window ends."""
        points = [(event.t, of(event.row)) for event in self.events if of(event.row) is not None]
        first = self.before(of, carry)
        if first is not None:
            points.insert(0, (self.start, first))
        return [(value, until - t) for (t, value), (until, _) in pairwise([*points, (self.end, None)]) if until > t]


Oracle = Callable[[Span], Any]


def last(of: Of, carry: int) -> Oracle:
    def found(span: Span) -> Any:
        own = [of(event.row) for event in span.events if of(event.row) is not None]
        return own[-1] if own else span.before(of, carry)

    return found


def mean(of: Of, carry: int) -> Oracle:
    def found(span: Span) -> float | None:
        pieces = span.pieces(of, carry)
        return double(added(exact(value) * length for value, length in pieces) / sum(length for _, length in pieces)) if pieces else None

    return found


def integral(of: Of, carry: int) -> Oracle:
    def found(span: Span) -> float | None:
        pieces = span.pieces(of, carry)
        return double(added(exact(value) * length for value, length in pieces) / 10**6) if pieces else None

    return found


def counter_increase(of: Of, carry: int) -> Oracle:
    """Sum over values of the window: how much each rose since the value before it, in or before the window, at most `carry` before."""

    def found(span: Span) -> Any:
        points = [(event.t, of(event.row)) for event in [*span.earlier, *span.events] if of(event.row) is not None]
        count = sum(of(event.row) is not None for event in span.events)
        steps = [(x, y) for (t, x), (u, y) in pairwise(points[-count - 1 :]) if u - t <= carry]
        return risen(steps, points[-1][1]) if count else None

    return found


def time_in_state(of: Of, carry: int) -> Oracle:
    def found(span: Span) -> list[tuple[Any, float]] | None:
        pieces = span.pieces(of, carry)
        return [(state, sum(us for each, us in pieces if each == state) / 1e6) for state in sorted({each for each, _ in pieces})] or None

    return found


def spans(
    window: Any, admitted: Sequence[Event], said: Judgement, reaching: Callable[[Event], Iterator[tuple[int, int]]]
) -> dict[Any, Any]:
    """(key, start, end) -> the window and the batch that closes it: windows with events, and those that `reaching` has of an event."""
    found: Windows = find(window, admitted, said)
    for event in admitted:
        for start, end in reaching(event):
            found.setdefault((event.key, start, end), Held(said.closing(window, end)))
    apart = outside(window)
    return {
        (key, start, end): (
            Span(start, end, by_time(held.events), by_time(earlier(admitted, key, start + apart, said.last(window, end)))),
            held.closing,
        )
        for (key, start, end), held in found.items()
    }


def outside(window: Any) -> int:
    """1 where an event at the start of a window lies before it, else 0."""
    return int(isinstance(window, RightClosed))


def earlier(admitted: Sequence[Event], key: Any, start: int, last: int | None) -> list[Event]:
    """The events of a key before an instant, of batches up to the last that counts in the window."""
    return [event for event in admitted if event.key == key and event.t < start and (last is None or event.batch <= last)]


def by_time(events: Sequence[Event]) -> list[Event]:
    return sorted(events, key=lambda event: event.order)
