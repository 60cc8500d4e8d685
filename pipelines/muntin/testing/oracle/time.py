"""Batches, the watermark, and the two questions asked of it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
"""A source row; its event time `t` in microseconds since 1970 UTC, or None."""

NEVER = -math.inf
"""The watermark before the first batch."""


@dataclass(frozen=True)
class Batch:
    """The source rows of `[start, end)`, in arrival order."""

    start: int
    end: int
    rows: Sequence[Row]


@dataclass(frozen=True)
class Event:
    """A row that was let in: number `arrival` of batch number `batch`."""

    t: int
    batch: int
    arrival: int
    key: tuple[Any, ...]
    row: Row

    @property
    def order(self) -> tuple[int, int, int]:
        """By event time, then arrival."""
        return (self.t, self.batch, self.arrival)


def credible(row: Row, batch: Batch, max_ahead: int) -> bool:
    """False sends the row to quarantine."""
    return row["t"] is not None and row["t"] <= batch.end + max_ahead


@dataclass(frozen=True)
class OfSources:
    """The watermark of several sources: rows say their `source`.

    A source further than `idle` behind a batch's end holds nothing back.
    """

    names: Sequence[str]
    idle: int | None = None


def watermarks(batches: Sequence[Batch], policy: str | OfSources, max_ahead: int) -> list[float]:
    """W(n) after each batch; rows that a filter leaves out count, quarantined ones do not."""
    if isinstance(policy, OfSources):
        return _of_sources(batches, policy, max_ahead)
    watermarks: list[float] = []
    for batch in batches:
        seen = [row["t"] for row in batch.rows if credible(row, batch, max_ahead)]
        latest = max([watermarks[-1] if watermarks else NEVER, *seen])
        watermarks.append(batch.end if policy == "interval" else latest)
    return watermarks


def _of_sources(batches: Sequence[Batch], policy: OfSources, max_ahead: int) -> list[float]:
    watermarks: list[float] = []
    latest = dict.fromkeys(policy.names, NEVER)
    for batch in batches:
        for row in batch.rows:
            if credible(row, batch, max_ahead):
                latest[row["source"]] = max(latest[row["source"]], row["t"])
        awake = [t for t in latest.values() if policy.idle is None or batch.end - t <= policy.idle]
        here = min(awake) if awake else max(latest.values())
        watermarks.append(max([here, *watermarks]))
    return watermarks


def events(
    batches: Sequence[Batch], keys: Sequence[str], max_ahead: int, where: Callable[[Row], object]
) -> list[Event]:
    """All rows that count, in arrival order."""
    return [
        Event(row["t"], number, arrival, tuple(row[key] for key in keys), row)
        for number, batch in enumerate(batches)
        for arrival, row in enumerate(batch.rows)
        if credible(row, batch, max_ahead) and where(row)
    ]
