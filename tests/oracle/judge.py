"""The oracle: every window from raw events, batch by batch, by the rules of the design alone."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.aggregates import Agg
from tests.oracle.kinds import DAY, Session, Sliding, Tumbling
from tests.oracle.time import NEVER, Batch, Event, Row, events, watermarks

Found = dict[tuple[tuple[Any, ...], int, int], tuple[int | None, list[Event]]]
"""(key, start, end) -> (number of the closing batch, events)."""


@dataclass
class Judgement:
    """What must come out. `late[n]`: positions in batch n of rows that missed a window."""

    marks: list[float]
    published: list[dict[str, Any]] = field(default_factory=list)
    still_open: list[dict[str, Any]] = field(default_factory=list)
    late: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


def judge(
    window: Sliding | Tumbling | Session,
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
    find = sessions if isinstance(window, Session) else fixed
    for (key, start, end), (closing, held) in find(window, admitted, said).items():
        rows = [event.row for event in sorted(held, key=lambda event: event.order)]
        row = dict(zip(keys, key, strict=True)) | {"window_start": start, "window_end": end}
        row |= {name: aggregate(rows) for name, aggregate in aggregates.items()}
        row["batch"] = closing
        (said.still_open if closing is None else said.published).append(row)
    return said


def fixed(window: Sliding | Tumbling, admitted: Sequence[Event], said: Judgement) -> Found:
    """A window closes with the first batch whose mark has passed it; what comes later is late."""
    found: Found = {}
    for event in admitted:
        for start, end in window.windows_for(event.t):
            passed = (n for n, mark in enumerate(said.marks) if window.closed(end, mark))
            closing = next(passed, None)
            if closing is None or event.batch <= closing:
                found.setdefault((event.key, start, end), (closing, []))[1].append(event)
            else:
                said.late[event.batch].add(event.arrival)
    return found


def sessions(window: Session, admitted: Sequence[Event], said: Judgement) -> Found:
    """Batch by batch: open sessions and new events form chains, late ones go, closed ones leave."""
    found: Found = {}
    for key in {event.key for event in admitted}:
        still: list[Event] = []
        for n, mark in enumerate(said.marks):
            before = said.marks[n - 1] if n else NEVER
            pool = still + [e for e in admitted if e.key == key and e.batch == n]
            still = []
            for chain in window.chains(pool):
                end = chain[-1].t + window.gap
                if window.closed(end, before) and all(event.batch == n for event in chain):
                    said.late[n] |= {event.arrival for event in chain}
                elif window.closed(end, mark):
                    found[key, chain[0].t, end] = (n, chain)
                else:
                    still += chain
        for chain in window.chains(still):
            found[key, chain[0].t, chain[-1].t + window.gap] = (None, chain)
    return found
