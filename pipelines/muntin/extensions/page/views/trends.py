"""The trends of a week, as pictures: name, unit, and a bar for each batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from muntin.jobs.inspect.trends import week

if TYPE_CHECKING:
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


@dataclass(frozen=True, slots=True)
class Trend:
    """A picture of the week: its bars, one or two values each, by name."""

    name: str
    unit: str
    start_us: Ints
    end_us: Ints
    values: dict[str, np.ndarray]


def trends(bound: Bound) -> list[Trend]:
    """The trends of a pipeline; nothing before the first publication."""
    if (last_week := week(bound)) is None:
        return []
    lag_s, sums = last_week.lag_s, last_week.sums
    size, unit = _scale(float(np.nanmax(lag_s, initial=0)))
    big, bytes_unit = _bytes(float(max(sums["bytes_read"].max(), sums["bytes_written"].max())))
    asked = [
        ("rows read", "", {"": sums["rows_read"]}),
        ("late rows", "", {"": sums["rows_late"]}),
        ("quarantined rows", "", {"": sums["rows_quarantined"]}),
        ("lag at publication", unit, {"": lag_s / size}),
        ("seconds of runs", "s", {"by the clock": sums["seconds"], "CPU": sums["cpu_seconds"]}),
        (
            "bytes of runs",
            bytes_unit,
            {"read": sums["bytes_read"] / big, "written": sums["bytes_written"] / big},
        ),
    ]
    return [Trend(name, unit, last_week.start_us, last_week.end_us, values) for name, unit, values in asked]


def _scale(seconds: float) -> tuple[int, str]:
    for size, unit in ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min")):
        if seconds >= 2 * size:
            return size, unit
    return 1, "s"


def _bytes(most: float) -> tuple[int, str]:
    for size, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if most >= size:
            return size, unit
    return 1, "B"
