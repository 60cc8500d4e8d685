"""Sessions: chains of neighbours, cut where they grow longer than allowed."""

from collections.abc import Sequence

from tests.oracle.families import find
from tests.oracle.found import Found, Held, Judgement
from tests.oracle.kinds import Session
from tests.oracle.time import NEVER, Event

Piece = tuple[list[Event], int, bool]
"""Its events in order of time, its end, whether it was cut: whether an event at its end would have belonged to it."""


def pieces(window: Session, pool: Sequence[Event]) -> list[Piece]:
    """One key's events as sessions."""
    return [piece for chain in window.chains(pool) for piece in cut(window, chain)]


def cut(window: Session, chain: list[Event]) -> list[Piece]:
    """From the first event at most `max_length`; the event behind it is the first of what follows."""
    if window.max_length is None:
        return [(chain, chain[-1].t + window.gap, False)]
    limit = chain[0].t + window.max_length
    head = [event for event in chain if event.t < limit]
    rest = chain[len(head) :]
    piece = (head, min(head[-1].t + window.gap, limit), window.reaches(limit - head[-1].t))
    return [piece, *(cut(window, rest) if rest else [])]


def closed(window: Session, piece: Piece, watermark: float) -> bool:
    """An event at exactly the end of a cut piece is of the next one, whatever `touching` says."""
    _, end, is_cut = piece
    return watermark >= end + window.grace if is_cut else window.closed(end, watermark)


@find.register
def sessions(window: Session, admitted: Sequence[Event], said: Judgement) -> Found:
    """Batch by batch: open sessions and new events form pieces, late ones go, closed ones leave."""
    found: Found = {}
    for key in {event.key for event in admitted}:
        still: list[Event] = []
        for n, watermark in enumerate(said.watermarks):
            before = said.watermarks[n - 1] if n else NEVER
            pool = still + [e for e in admitted if e.key == key and e.batch == n]
            still = []
            for piece in pieces(window, pool):
                held = piece[0]
                if closed(window, piece, before) and all(event.batch == n for event in held):
                    said.late[n] |= {event.arrival for event in held}
                elif closed(window, piece, watermark) and watermark > before:  # a late event may cut what was open at a time gone by
                    add(found, window, key, piece, n)
                else:
                    still += held
        for piece in pieces(window, still):
            add(found, window, key, piece, None)
    return found


def add(found: Found, window: Session, key: tuple[object, ...], piece: Piece, closing: int | None) -> None:
    """A row for a piece; two pieces never have the same bounds."""
    held, end, is_cut = piece
    assert (key, held[0].t, end) not in found
    found[key, held[0].t, end] = Held(closing, held, {} if window.max_length is None else {"cut": is_cut})
