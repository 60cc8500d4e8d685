"""Hours of events, some of which come again in later hours, and what is left of them by a naive reader."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.schedule import Interval
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.state.bound import Bound, bind
from muntin.tasks import Local
from tests.end_to_end.hourly import START, hour
from tests.source_options import grouped

WITHIN, AHEAD = 60, 24 * 60  # minutes
Row = tuple[str | None, float | None, int]  # id, minute of the event after the start, x
SCHEMA = pa.schema([("id", pa.string()), ("at", pa.timestamp("us", "UTC")), ("x", pa.int64()), ("k", pa.string())])
HERE = Local(2)


def naively(batches: Mapping[int, Sequence[Row]]) -> dict[int, list[Row]]:
    """The rows that count, given the rows of adjacent batches in order."""
    seen: list[Row] = []  # of each earlier batch the first row of each id
    left: dict[int, list[Row]] = {}
    for at in sorted(batches):
        own: dict[str, Row] = {}
        left[at] = []
        for row in batches[at]:
            name, minute, _ = row
            if name is None or minute is None or minute > 60 * (at + 1) + AHEAD:
                left[at].append(row)  # nobody knows whether it repeats another, or it is refused
            elif name not in own:
                own[name] = row
                if not any(one[0] == name and abs(one[1] - minute) <= WITHIN for one in seen):
                    left[at].append(row)
        seen += own.values()
    return left


@dataclass(frozen=True)
class Repeating:
    """A pipeline over the hours in a folder; `compared`: whether it knows of duplicates."""

    folder: Path
    compared: bool = True
    watermark: str = "interval"

    @property
    def pipeline(self) -> Pipeline:
        told = {"dedupe": "id", "dedupe_within": timedelta(minutes=WITHIN)} if self.compared else {}
        return Pipeline(
            name="repeating",
            source=sources.files(f"{self.folder}/data/{{start:%H}}.parquet", **grouped(event_time="at", **told)),
            schedule="1h",
            start=START,
            limits=Limits(max_quarantined=None),
            keys=["k"],
            watermark=self.watermark,
            windows={"hours": windows.sliding("2h", step="1h", grace="1h"), "visits": windows.session("20m")},
            aggregates={"n": agg.count(), "x": agg.sum("x"), "first": agg.first("x"), "spread": agg.stddev("x")},
        )

    @property
    def root(self) -> Path:
        return self.folder / "state"

    def bound(self) -> Bound:
        return bind(self.pipeline, self.root, claim=True)

    def write(self, at: int, rows: Sequence[Row]) -> None:
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        table = [
            {"id": name, "at": None if minute is None else START + timedelta(minutes=minute), "x": x, "k": "ab"[x % 2]}
            for name, minute, x in rows
        ]
        pq.write_table(pa.Table.from_pylist(table, SCHEMA), self.folder / f"data/{at:02d}.parquet")

    def run(self, first: int, last: int, **more: Any) -> Any:
        """Hours first..last, last included."""
        return run(self.pipeline, root=self.root, start=hour(first), end=hour(last + 1), spark=HERE, **more)

    def accumulate(self, *hours: int, store: Any = None) -> None:
        """States alone, as tasks of several hours at once make them."""
        bound = self.bound() if store is None else bind(self.pipeline, self.root, store=store)
        starts = [int(hour(at).timestamp()) * 10**6 for at in hours]
        accumulate(bound, HERE, [Interval(start, bound.pipeline.intervals.after(start)) for start in starts])

    def published(self) -> dict[str, pa.Table]:
        return {name: read(self.pipeline, name, root=self.root) for name in self.pipeline.windows}


def clean(folder: Path, batches: Mapping[int, Sequence[Row]], watermark: str = "interval") -> tuple[dict[str, pa.Table], Any]:
    """What a pipeline publishes that knows nothing of duplicates, given the rows that count; and its report."""
    case = Repeating(folder, compared=False, watermark=watermark)
    for at, rows in naively(batches).items():
        case.write(at, rows)
    report = case.run(min(batches), max(batches))
    return case.published(), report
