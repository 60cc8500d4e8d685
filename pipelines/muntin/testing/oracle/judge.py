"""The oracle: every window from raw events, batch by batch, by the rules of the documentation alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from muntin.testing.oracle.judgement import Judgement, find
from muntin.testing.oracle.kinds import DAY
from muntin.testing.oracle.time import Batch, OfSources, Row, events, watermarks


def judge(
    window: Any,
    batches: Sequence[Batch],
    aggregates: Mapping[str, Callable[[Sequence[Row]], Any]],
    *,
    keys: Sequence[str] = (),
    watermark: str | OfSources = "interval",
    max_ahead: int = DAY,
    where: Callable[[Row], object] = lambda _: True,
    lateness: int = 0,
) -> Judgement:
    """All windows of one definition over adjacent batches, from the first to the last."""
    said = Judgement(watermarks(batches, watermark, max_ahead), lateness)
    admitted = events(batches, keys, max_ahead, where)
    for (key, start, end, *_), held in find(window, admitted, said).items():
        rows = [event.row for event in sorted(held.events, key=lambda event: event.order)]
        row = dict(zip(keys, key, strict=True)) | {"window_start": start, "window_end": end} | held.more
        row |= {name: aggregate(rows) for name, aggregate in aggregates.items()}
        row["batch"] = held.closing
        for event in held.events:
            if (
                held.closing is not None
                and held.closing < event.batch
                and event.arrival not in said.late[event.batch]
            ):
                said.correcting[event.batch].add(event.arrival)
        (said.still_open if held.closing is None else said.published).append(row)
    return said
