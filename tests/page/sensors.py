"""A pipeline of hostile names, made by the product.

hour          0              1              2              3              4
batches       |--------------|--------------|  missing     |--------------|
sensor a      x    x    x         x                             waits
<script>           x
              late for hour 0:    o    (of a)      refused: a row without a time, whose text is a tag
windows       [hour 0       ) [hour 1       )    and over two hours, every hour; [1, 3) is open
"""

from dataclasses import dataclass
from pathlib import Path

from muntin.cli.place import placed
from muntin.definition.pipeline import Pipeline
from muntin.jobs.records.verdicts import note_verdict
from muntin.jobs.run import run
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.end_to_end.hourly import hour

SCRIPT = "<script>alert(1)</script>"
DEFINITION = """
from datetime import UTC, datetime

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

sensors = Pipeline(
    name="sensors",
    source=sources.files("data/{start:%H}.csv", event_time="at", types={"<b>key</b>": "VARCHAR", "value": "BIGINT"}),
    schedule="1h",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    keys=["<b>key</b>"],
    windows={"hour": windows.tumbling("1h"), "two_hours": windows.sliding("2h", step="1h"), "visit": windows.session("10m")},
    aggregates={"n": agg.count(), "<i>total</i>": agg.sum("value"), "all": agg.collect_sorted("value")},
    expectations={"hour": "expectations/hour.json"},
)
dag = airflow_dag(sensors)
"""
ROWS = {  # minute of the first hour, key, value
    0: [(5, "a", 1), (25, "a", 2), (45, "a", 3), (20, SCRIPT, 4)],
    1: [(90, "a", 5), (50, "a", 6), (None, SCRIPT, 7), (100, "", 8)],
    3: [(210, "a", 9)],
}
REPORT = {
    "window": "hour",
    "rows": 3,
    "status": "failed",
    "verdict": "failed: 1 critical of 1 check on 3 rows",
    "files": [],
    "checks": [
        {
            "type": "expect_column_values_to_be_between",
            "column": "n",
            "kwargs": {"column": "n", "max_value": 2},
            "severity": "critical",
            "success": False,
            "observed_value": None,
            "unexpected_count": 1,
            "unexpected_percent": 33.3,
            "error": None,
            "failing_rows": [{"<b>key</b>": SCRIPT, "window_start": "2024-01-01T00:00:00Z", "n": 3}],
        }
    ],
}


@dataclass(frozen=True)
class Sensors:
    """The project's folder."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "dags/sensors.py"

    @property
    def root(self) -> Path:
        return self.folder / "state"

    @property
    def pipeline(self) -> Pipeline:
        return placed(self.file, None, self.root)[0]

    def run(self, first: int, last: int) -> None:
        """Hours first..last, last included."""
        run(self.pipeline, root=self.root, start=hour(first), end=hour(last + 1), spark=Local(2), validate=False)


def sensors(folder: Path) -> Sensors:
    """The project with its hours published."""
    made = Sensors(folder)
    texts = {"dags/sensors.py": DEFINITION, **{f"data/{at:02d}.csv": _csv(rows) for at, rows in ROWS.items()}}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    made.run(0, 1)
    made.run(3, 3)
    note_verdict(bind(made.pipeline, made.root).folder, REPORT, [0], hour(2))
    return made


def _csv(rows: list[tuple[int | None, str, int]]) -> str:
    lines = (f"{'' if minute is None else hour(minute / 60).isoformat()},{key},{value}" for minute, key, value in rows)
    return "\n".join(["at,<b>key</b>,value", *lines]) + "\n"
