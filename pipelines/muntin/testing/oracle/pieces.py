"""Sessions: chains of neighbours, cut where they grow longer than allowed, or where a row ends them."""

from collections.abc import Sequence

from muntin.testing.oracle.judgement import Held, Judgement, Windows, find
from muntin.testing.oracle.kinds import OwnGapSession, Session
from muntin.testing.oracle.time import NEVER, Event

Piece = tuple[list[Event], int, str]
"""Events in order of time, the end, and why it ended.

"cut" where an event at its end would have belonged to it, "ended" by a row.
"""


def pieces(window: Session | OwnGapSession, pool: Sequence[Event]) -> list[Piece]:
    """One key's events as sessions."""
    if isinstance(window, OwnGapSession):
        return [(chain, max(window.reach(event.row) for event in chain), "") for chain in window.chains(pool)]
    return [piece for chain in window.chains(pool) for piece in cut(window, chain)]


def cut(window: Session, chain: list[Event]) -> list[Piece]:
    """Pieces of at most `max_length`, each to the first event that ends it.

    The event behind it is the first of the next piece.
    """
    limit = float("inf") if window.max_length is None else chain[0].t + window.max_length
    ending = min(
        (event.t for event in chain if window.until is not None and window.until(event.row)), default=limit
    )
    is_ended = ending < limit
    head = [event for event in chain if (event.t <= ending if is_ended else event.t < limit)]
    rest = chain[len(head) :]
    why = "ended" if is_ended else "cut" if window.reaches(limit - head[-1].t) else ""  # type: ignore[arg-type]
    piece = (head, int(ending if is_ended else min(head[-1].t + window.gap, limit)), why)
    return [piece, *(cut(window, rest) if rest else [])]


def closed(window: Session | OwnGapSession, piece: Piece, watermark: float) -> bool:
    """Whether a watermark has passed a piece, whatever `touching` says.

    An event at exactly the end of a cut piece is of the next piece; of an ended piece, of this piece.
    """
    _, end, why = piece
    if why == "ended":
        return watermark > end + window.grace
    return watermark >= end + window.grace if why == "cut" else window.closed(end, watermark)


@find.register(Session)
@find.register(OwnGapSession)
def sessions(window: Session | OwnGapSession, admitted: Sequence[Event], said: Judgement) -> Windows:
    """Batch by batch: open sessions and new events form pieces, late ones go, closed ones leave."""
    windows: Windows = {}
    for key in {event.key for event in admitted}:
        still: list[Event] = []
        for n, watermark in enumerate(said.watermarks):
            before = said.watermarks[n - 1] if n else NEVER
            pool = still + [e for e in admitted if e.key == key and e.batch == n]
            still = []
            for piece in pieces(window, pool):
                held = piece[0]
                if closed(window, piece, before - said.lateness) and all(event.batch == n for event in held):
                    said.late[n] |= {event.arrival for event in held}
                elif (
                    closed(window, piece, watermark - said.lateness) and watermark > before
                ):  # a late event may cut what was open at a time gone by
                    forced = closed(window, piece, before - said.lateness)
                    add(windows, window, key, piece, n if forced else first(window, piece, said))
                else:
                    still += held
        for piece in pieces(window, still):
            add(windows, window, key, piece, first(window, piece, said) if said.lateness else None)
    return windows


def first(window: Session | OwnGapSession, piece: Piece, said: Judgement) -> int | None:
    """The first batch whose watermark has passed a piece; None: it is open."""
    return next((n for n, watermark in enumerate(said.watermarks) if closed(window, piece, watermark)), None)


def add(
    windows: Windows,
    window: Session | OwnGapSession,
    key: tuple[object, ...],
    piece: Piece,
    closing: int | None,
) -> None:
    """A row for a piece; two pieces never have the same bounds."""
    held, end, why = piece
    if (key, held[0].t, end) in windows:
        raise AssertionError("two pieces have the same bounds")
    asked = {"cut": window.max_length, "ended": window.until}
    columns = {name: why == name for name, parameter in asked.items() if parameter is not None}
    windows[key, held[0].t, end] = Held(closing, held, columns)
