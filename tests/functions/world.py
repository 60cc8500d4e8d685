"""What a test's function is asked for: rows by hour, which come, change and may not be there yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from muntin import Limits, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.tasks import Local
from tests.end_to_end.hourly import START, hour, times

CONTENT: dict[str, dict[int, list[tuple[float, str, float]]]] = {}
"""World -> hour -> (minute, city, x). A definition must not hold it: what a function holds is part of the definition."""
CALLS: dict[str, list[int]] = {}


@dataclass(frozen=True)
class World:
    """Rows below a name, and the pipeline that asks for them."""

    name: str
    folder: Path
    source: Mapping[str, Any] = field(default_factory=dict)
    other: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        CONTENT.setdefault(self.name, {})
        CALLS.setdefault(self.name, [])

    @property
    def hours(self) -> dict[int, list[tuple[float, str, float]]]:
        return CONTENT[self.name]

    def asked(self) -> list[int]:
        """The hours that were asked for since the last time."""
        calls, CALLS[self.name] = CALLS[self.name], []
        return calls

    @property
    def root(self) -> Path:
        return self.folder / "state"

    @property
    def pipeline(self) -> Pipeline:
        name = self.name

        def fetch(start: datetime, end: datetime) -> object:
            at = number(start)
            assert end == hour(at + 1)
            CALLS[name].append(at)
            return table(CONTENT[name].get(at), at)

        return hourly(sources.function(fetch, **{"event_time": "at", **self.source}), **self.other)

    def run(self, first: int | None = None, last: int | None = None, **more: Any) -> Any:
        """Hours first..last, last included; None: what there is to do."""
        span = {"start": None if first is None else hour(first), "end": None if last is None else hour(last + 1)}
        return run(self.pipeline, root=self.root, **span, **{"spark": Local(2), **more})

    def rows(self) -> list[tuple[Any, ...]]:
        return rows(self.pipeline, self.root)


def hourly(source: Any, **other: Any) -> Pipeline:
    right: dict[str, Any] = {
        "name": "asked",
        "source": source,
        "schedule": "1h",
        "start": START,
        "keys": ["city"],
        "windows": {"hour": windows.tumbling("1h")},
        "aggregates": {"n": agg.count(), "x": agg.sum("x"), "first": agg.first("x")},
        "limits": Limits(max_quarantined=None, settle_after=0),
    }
    return Pipeline(**(right | other))


def rows(pipeline: Pipeline, root: Path) -> list[tuple[Any, ...]]:
    """(hour, city, n, x) of what is published."""
    published = read(pipeline, "hour", root=root).to_pylist()
    return [(number(each["window_start"]), each["city"], each["n"], each["x"]) for each in published]


def number(start: datetime) -> int:
    return (instant_us(start, "start") - instant_us(START, "start")) // 3_600_000_000


def table(content: list[tuple[float, str, float]] | None, at: int) -> pa.Table | None:
    if content is None:
        return None
    return pa.table(
        {
            "at": pa.array(times(*(60 * at + minute for minute, *_ in content)), pa.timestamp("us", "UTC")),
            "city": pa.array([city for _, city, _ in content], pa.string()),
            "x": pa.array([x for *_, x in content], pa.float64()),
        }
    )
