"""Windows of adjacent rows: the rows of a key in order, gone through one by one, and anew after each batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from muntin.testing.oracle.judgement import Held, Judgement, Windows, find
from muntin.testing.oracle.time import NEVER, Event, Row


@dataclass
class Piece:
    """A window: its rows; where it ends, None if nobody knows yet; whether it was cut."""

    events: list[Event]
    end: int | None = None
    cut: bool = False


@dataclass(frozen=True)
class Adjacent:
    """Windows of adjacent rows. `sql` is what a user writes for the conditions."""

    sql: tuple[str, ...]
    grace: int = 0
    limit: int | None = None

    def pieces(self, events: Sequence[Event]) -> list[Piece]:
        """The windows of a key's rows, in order."""
        raise NotImplementedError

    def more(self, piece: Piece, tie: int) -> dict[str, Any]:
        """The kind's columns."""
        return {"tie": tie} | ({"cut": piece.cut} if self.limit else {})

    def published(self, piece: Piece) -> bool:
        """Whether it lasted long enough."""
        return bool(piece.events)

    def is_over(self, piece: Piece, t: int) -> bool:
        """Whether a window is too long to hold a row at `t`."""
        return self.limit is not None and t >= piece.events[0].t + self.limit


@dataclass(frozen=True)
class While(Adjacent):
    """Rows for which a value is the same: of a condition that it holds. None is no value."""

    value: Callable[[Row], Any] = field(default=lambda row: row)
    at_least: int = 0

    def pieces(self, events: Sequence[Event]) -> list[Piece]:
        found: list[Piece] = []
        last: Piece | None = None
        for event in events:
            if last and self.is_over(last, event.t):
                end(last, last.events[0].t + (self.limit or 0), cut=True)
                last = None
            if last and self.value(last.events[0].row) != self.value(event.row):
                end(last, event.t)
                last = None
            if last:
                last.events.append(event)
            elif self.value(event.row) is not None:
                last = Piece([event])
                found.append(last)
        return found

    def published(self, piece: Piece) -> bool:
        return piece.events[-1].t - piece.events[0].t >= self.at_least


@dataclass(frozen=True)
class WhileSame(While):
    """The value is a column of the result, `state`."""

    def more(self, piece: Piece, tie: int) -> dict[str, Any]:
        return {"state": self.value(piece.events[0].row)} | super().more(piece, tie)


@dataclass(frozen=True)
class Between(Adjacent):
    """From a row that opens to one that closes."""

    opens: Callable[[Row], bool] = bool
    closes: Callable[[Row], bool] = bool

    def pieces(self, events: Sequence[Event]) -> list[Piece]:
        found: list[Piece] = []
        last: Piece | None = None
        for event in events:
            if last and self.is_over(last, event.t):
                end(last, last.events[0].t + (self.limit or 0), cut=True)
                last = None
            if last:
                last.events.append(event)
            elif self.opens(event.row):
                last = Piece([event])
                found.append(last)
            if last and self.closes(event.row):
                end(last, event.t)
                last = None
        return found


def end(piece: Piece, at: int, *, cut: bool = False) -> None:
    piece.end, piece.cut = at, cut


def known(window: Adjacent, piece: Piece, time: float) -> int | None:
    """Where a piece ends, if all rows before this time are known; None: it is open."""
    if piece.end is None and window.limit is not None and time >= piece.events[0].t + window.limit:
        end(piece, piece.events[0].t + window.limit, cut=True)
    return piece.end if piece.end is not None and time >= piece.end else None


@find.register
def adjacent(window: Adjacent, admitted: Sequence[Event], said: Judgement) -> Windows:
    """Batch by batch: rows before what is decided are late, the others are put in order, and all is cut anew."""
    found: Windows = {}
    for key in {event.key for event in admitted}:
        rows: list[Event] = []
        decided, done, pieces = NEVER, 0, list[Piece]()
        for n, watermark in enumerate(said.watermarks):
            new = [event for event in admitted if event.key == key and event.batch == n]
            said.late[n] |= {event.arrival for event in new if event.t < decided}
            rows = sorted(rows + [event for event in new if event.t >= decided], key=lambda event: event.order)
            time = watermark - window.grace - said.lateness
            pieces = window.pieces(rows)
            closed = [piece for piece in pieces if known(window, piece, time) is not None]
            assert closed == pieces[: len(closed)]
            for piece in closed[done:]:
                forced = n > 0 and time_after(window, said, n - 1) - said.lateness >= (piece.end or 0)
                add(found, window, key, pieces, piece, n if forced else first(window, piece, said))
            done = len(closed)
            inside = {event.order for piece in pieces for event in piece.events}
            alone = [event.t for event in rows if event.order not in inside and event.t <= time]
            decided = max([decided, *(piece.end for piece in closed if piece.end is not None), *alone])
        for piece in pieces[done:]:
            add(found, window, key, pieces, piece, first(window, piece, said) if said.lateness else None)
    return found


def time_after(window: Adjacent, said: Judgement, n: int) -> float:
    """The time up to which windows end that a batch closes."""
    return said.watermarks[n] - window.grace


def first(window: Adjacent, piece: Piece, said: Judgement) -> int | None:
    """The first batch whose time has passed a piece; None: it is open."""
    return next((n for n in range(len(said.watermarks)) if known(window, piece, time_after(window, said, n)) is not None), None)


def add(found: Windows, window: Adjacent, key: Any, pieces: Sequence[Piece], piece: Piece, closing: int | None) -> None:
    """A row for a window, if it lasted. One that is open, and that no row ends yet, ends with its last row."""
    start = piece.events[0].t
    if closing is None and (piece.cut or piece.end is None):
        piece = Piece(piece.events, piece.events[-1].t)
    together = [each for each in pieces if each.events[0].t == start]
    tie = next(at for at, each in enumerate(together) if each.events is piece.events)
    if window.published(piece):
        assert (key, start, piece.end, tie) not in found
        found[key, start, piece.end, tie] = Held(closing, piece.events, window.more(piece, tie))
