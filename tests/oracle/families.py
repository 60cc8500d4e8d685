"""Which windows hold which events: a program for windows that are there by the clock; other kinds register their own."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Protocol

from tests.oracle.found import Found, Held, Judgement
from tests.oracle.kinds import AllTime
from tests.oracle.time import Event


class Window(Protocol):
    """A kind with its parameters. One that is there by the clock says `windows_for(t)` and `closed(end, watermark)`."""

    grace: int


@singledispatch
def find(window: Window, admitted: Sequence[Event], said: Judgement) -> Found:
    """A window closes with the first batch whose watermark has passed it; what comes later than allowed is late."""
    found: Found = {}
    for event in admitted:
        for start, end in window.windows_for(event.t):
            last = said.last(window, end)
            if last is None or event.batch <= last:
                found.setdefault((event.key, start, end), Held(said.closing(window, end))).events.append(event)
            else:
                said.late[event.batch].add(event.arrival)
    return found


@find.register
def all_time(window: AllTime, admitted: Sequence[Event], said: Judgement) -> Found:
    """One window for each key, from its first event to its last; nothing closes it."""
    found: Found = {}
    for key in {event.key for event in admitted}:
        own = [event for event in admitted if event.key == key]
        found[key, min(event.t for event in own), max(event.t for event in own)] = Held(None, own)
    return found
