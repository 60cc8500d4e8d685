"""A pipeline of hourly batches over files that a test writes, run in this process."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, RunReport, read, run, sources, windows
from muntin import aggregates as agg
from muntin.tasks import Local
from tests.source_options import grouped

START = datetime(2024, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Hourly:
    """A folder with `data` and `state`; what a test says otherwise of the source and the definition."""

    folder: Path
    path: str = "{start:%H}*.parquet"
    source: Mapping[str, Any] = field(default_factory=dict)
    other: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pipeline(self) -> Pipeline:
        right: dict[str, Any] = {
            "name": "hourly",
            "source": sources.files(f"{self.folder}/data/{self.path}", **grouped(self.path, **{"event_time": "at", **self.source})),
            "schedule": "1h",
            "start": START,
            "windows": {"hour": windows.tumbling("1h")},
            "aggregates": {"n": agg.count()},
            "limits": Limits(max_quarantined=None, settle_after=0),  # of so few rows most may be bad, and a test writes them as it runs
        }
        return Pipeline(**(right | dict(self.other)))

    @property
    def root(self) -> Path:
        return self.folder / "state"

    def write(self, name: str, columns: Columns) -> Path:
        """A file below `data`, in the format that its name ends in."""
        path = self.folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.table(dict(columns))
        if name.endswith(".parquet"):
            pq.write_table(table, path)
        elif name.endswith(".csv"):
            pyarrow.csv.write_csv(table, path)
        else:
            path.write_text("".join(_line(row) for row in table.to_pylist()))
        return path

    def run(self, first: int = 0, last: int = 0, **more: Any) -> RunReport:
        """Hours first..last, last included."""
        return run(self.pipeline, root=self.root, start=hour(first), end=hour(last + 1), spark=Local(2), **more)

    def rows(self, *names: str) -> list[tuple[Any, ...]]:
        """Columns of what is published."""
        published = read(self.pipeline, "hour", root=self.root)
        return list(zip(*(published[name].to_pylist() for name in names), strict=True))


def hour(at: float) -> datetime:
    """So many hours after the start."""
    return START + at * HOUR


def times(*minutes: float) -> list[datetime]:
    """Minutes after the start."""
    return [START + timedelta(minutes=minute) for minute in minutes]


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps({name: str(value) if isinstance(value, datetime) else value for name, value in row.items()}) + "\n"
