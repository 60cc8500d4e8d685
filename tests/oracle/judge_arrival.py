"""The oracle of windows in order of arrival: every window from raw rows, one after the other."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from muntin.testing.oracle.aggregates import Agg
from muntin.testing.oracle.judgement import Judgement
from muntin.testing.oracle.kinds import DAY
from muntin.testing.oracle.time import Batch, Row, events, watermarks
from tests.oracle.arrival import Arrival, Arrived, Fired
from tests.oracle.operator import Operator
from tests.oracle.progressive_sort import ProgressiveSort


def judge_arrival(
    window: Arrival | ProgressiveSort,
    batches: Sequence[Batch],
    aggregates: Mapping[str, Agg],
    *,
    keys: Sequence[str] = (),
    max_ahead: int = DAY,
    where: Callable[[Row], object] = lambda _: True,
    start: int | None = None,
) -> Judgement:
    """All windows of one definition, in order of firing; `start`: where ticks count from, else the first batch's start.

    A row of a batch: `t` event time, `a` arrival time or None, both in microseconds; `file` for windows by file.
    """
    said = Judgement(watermarks(batches, "interval", max_ahead))
    begin = batches[0].start if start is None else start
    operator = window if isinstance(window, ProgressiveSort) else Operator(window, begin)
    for fired in operator.run(batches, events(batches, keys, max_ahead, where)):
        for row in rows(window, fired, keys, aggregates):
            (said.still_open if fired.closing is None else said.published).append(row)
    return said


def rows(window: Arrival | ProgressiveSort, fired: Fired, keys: Sequence[str], aggregates: Mapping[str, Agg]) -> list[dict[str, Any]]:
    """A window is a row, or one for each of its groups, with the times of its own rows."""
    key = dict(zip(keys, fired.key, strict=True)) | {"window_index": fired.index}
    if not window.group_by:
        return [key | row(fired, fired.rows, (fired.start, fired.end), aggregates)]
    return [
        key | dict(zip(window.group_by, group, strict=True)) | row(fired, held, bounds(held), aggregates)
        for group, held in groups(window.group_by, fired.rows)
    ]


def row(fired: Fired, held: Sequence[Arrived], between: tuple[int, int], aggregates: Mapping[str, Agg]) -> dict[str, Any]:
    """Bounds, aggregates by order of arrival, closing batch."""
    found = {"window_start": between[0], "window_end": between[1]}
    return found | {name: aggregate([one.event.row for one in held]) for name, aggregate in aggregates.items()} | {"batch": fired.closing}


def bounds(held: Sequence[Arrived]) -> tuple[int, int]:
    """Least and largest event time."""
    return min(row.event.t for row in held), max(row.event.t for row in held)


def groups(names: Sequence[str], held: Sequence[Arrived]) -> list[tuple[tuple[Any, ...], list[Arrived]]]:
    """Sorted, null last."""
    found: dict[tuple[Any, ...], list[Arrived]] = {}
    for one in held:
        found.setdefault(tuple(one.event.row[name] for name in names), []).append(one)
    return sorted(found.items(), key=lambda group: [(value is None, "" if value is None else value) for value in group[0]])
