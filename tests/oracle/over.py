"""Aggregates of a range of time from raw events: a loop over the rows of all batches, whichever window they were late for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from muntin.testing.oracle.time import Batch, Row, events

FAR_AHEAD = 2**62


def over(
    batches: Sequence[Batch],
    ranges: Sequence[tuple[int, int]],
    aggregates: Mapping[str, Callable[[Sequence[Row]], Any]],
    *,
    keys: Sequence[str],
    by: Sequence[str],
) -> list[dict[str, Any]]:
    """A row for each range and group that has rows in it; without columns to group by for each range.

    Rows of a group are in the order of event time, then batch, then key, then arrival.
    """
    every = events(batches, keys, FAR_AHEAD, lambda _: True)
    found = []
    for start, end in ranges:
        groups: dict[tuple[Any, ...], list[Any]] = {} if by else {(): []}
        for event in every:
            if start <= event.t < end:
                groups.setdefault(tuple(event.row[name] for name in by), []).append(event)
        for group in sorted(groups, key=_null_last):
            rows = [
                event.row for event in sorted(groups[group], key=lambda event: (event.t, event.batch, _null_last(event.key), event.arrival))
            ]
            bounds = {"window_start": start, "window_end": end}
            found.append(dict(zip(by, group, strict=True)) | bounds | {name: each(rows) for name, each in aggregates.items()})
    return found


def _null_last(key: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    return [(value is None, 0 if value is None else value) for value in key]
