"""The oracle: every window from raw events, batch by batch, by the rules of the design alone."""

from collections.abc import Callable, Mapping, Sequence

from tests.oracle.aggregates import Agg
from tests.oracle.calendar import Calendar
from tests.oracle.cumulating import Cumulating
from tests.oracle.found import Found, Held, Judgement
from tests.oracle.kinds import DAY, AllTime, Session, Sliding, Tumbling
from tests.oracle.pieces import sessions
from tests.oracle.time import Batch, Event, Row, events, watermarks
from tests.oracle.unique import Unique, unique

Fixed = Sliding | Tumbling | Cumulating | Calendar
"""A window of these is there by the clock, whatever else happens."""
Window = Fixed | Session | Unique | AllTime


def judge(
    window: Window,
    batches: Sequence[Batch],
    aggregates: Mapping[str, Agg],
    *,
    keys: Sequence[str] = (),
    watermark: str = "interval",
    max_ahead: int = DAY,
    where: Callable[[Row], object] = lambda _: True,
) -> Judgement:
    """All windows of one definition over adjacent batches, from the first to the last."""
    said = Judgement(watermarks(batches, watermark, max_ahead))
    admitted = events(batches, keys, max_ahead, where)
    for (key, start, end), held in find(window, admitted, said).items():
        rows = [event.row for event in sorted(held.events, key=lambda event: event.order)]
        row = dict(zip(keys, key, strict=True)) | {"window_start": start, "window_end": end} | held.more
        row |= {name: aggregate(rows) for name, aggregate in aggregates.items()}
        row["batch"] = held.closing
        (said.still_open if held.closing is None else said.published).append(row)
    return said


def find(window: Window, admitted: Sequence[Event], said: Judgement) -> Found:
    """Each family has its own program."""
    match window:
        case Session():
            return sessions(window, admitted, said)
        case Unique():
            return unique(window, admitted, said)
        case AllTime():
            return all_time(admitted)
        case _:
            return fixed(window, admitted, said)


def fixed(window: Fixed, admitted: Sequence[Event], said: Judgement) -> Found:
    """A window closes with the first batch whose mark has passed it; what comes later is late."""
    found: Found = {}
    for event in admitted:
        for start, end in window.windows_for(event.t):
            closing = said.closing(window, end)
            if closing is None or event.batch <= closing:
                found.setdefault((event.key, start, end), Held(closing)).events.append(event)
            else:
                said.late[event.batch].add(event.arrival)
    return found


def all_time(admitted: Sequence[Event]) -> Found:
    """One window for each key, from its first event to its last; nothing closes it."""
    found: Found = {}
    for key in {event.key for event in admitted}:
        own = [event for event in admitted if event.key == key]
        found[key, min(event.t for event in own), max(event.t for event in own)] = Held(None, own)
    return found
