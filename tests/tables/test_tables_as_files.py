"""A Delta table gives the windows that the same rows give as files: to the last bit, whatever happened to the table meanwhile."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from muntin import Limits, Pipeline, read, sources, windows
from muntin import aggregates as agg
from muntin.sources.source import Source
from muntin.testing import run_here
from tests.case_counts import cases
from tests.tables.delta_tables import append, dated

START = datetime(2024, 5, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
HOURS = 6
CITIES = ("Graz", "Linz", None, "a b/c")


def pipeline(name: str, source: Source) -> Pipeline:
    return Pipeline(
        name=name,
        source=source,
        schedule="1h",
        start=START,
        keys=["city"],
        windows={"half": windows.tumbling("30m"), "session": windows.session("20m")},
        aggregates={
            "n": agg.count(),
            "total": agg.sum("x"),
            "spread": agg.stddev("x"),
            "all": agg.collect_sorted("x"),
            "more": agg.sum("more"),
        },
        limits=Limits(max_ahead="2h"),
    )


@dataclass
class Both:
    """The same rows in a Delta table, and in a file of each commit."""

    folder: Path
    partitioned: bool
    dice: random.Random
    commits: dict[int, int] = field(default_factory=dict)  # hour -> how many

    @property
    def table(self) -> Path:
        return self.folder / "table"

    def add(self, hour: int, rows: pa.Table, minute: int) -> None:
        append(self.table, rows, START + hour * HOUR + timedelta(minutes=minute), by=["city"] if self.partitioned else (), merge=True)
        written = [each["add"] for each in self._newest() if "add" in each]
        for each in written:  # in the files of the table the rows of a commit are ordered by partition
            number = self.commits.get(hour, 0)
            self.commits[hour] = number + 1
            own = rows.filter(_in(rows, each["partitionValues"]["city"])) if self.partitioned else rows
            place = self.folder / f"{START + hour * HOUR:%H}"
            place.mkdir(exist_ok=True)
            pq.write_table(_full(own), place / f"{number:03d}.parquet")

    def _newest(self) -> list[dict[str, dict[str, dict[str, str]]]]:
        import json

        version = DeltaTable(self.table).version()
        return [json.loads(line) for line in (self.table / "_delta_log" / f"{version:020d}.json").read_text().splitlines()]

    def compact(self, hour: int) -> None:
        DeltaTable(self.table).optimize.compact()
        dated(self.table, START + hour * HOUR + timedelta(minutes=59))

    def pipelines(self) -> tuple[Pipeline, Pipeline]:
        files = sources.files(f"{self.folder}/{{start:%H}}/*.parquet", event_time="at", missing="empty", columns={"more": "DOUBLE"})
        return pipeline("files", files), pipeline("table", sources.table(str(self.table), event_time="at"))


def _in(rows: pa.Table, city: str | None) -> pa.Array:
    return pa.array([value == city for value in rows["city"].to_pylist()])


def _full(rows: pa.Table) -> pa.Table:
    return rows if "more" in rows.column_names else rows.append_column("more", pa.nulls(len(rows), pa.float64()))


def random_rows(dice: random.Random, hour: int) -> pa.Table:
    count = dice.randrange(1, 40)
    at = [START + hour * HOUR + timedelta(seconds=dice.randrange(-5400, 3600)) for _ in range(count)]
    columns = {
        "at": pa.array(at, pa.timestamp("us", "UTC")),
        "city": pa.array([dice.choice(CITIES) for _ in at], pa.string()),
        "x": pa.array([dice.choice([0.1, -1e17, 1e17, dice.random()]) for _ in at]),
    }
    if hour > HOURS // 2:
        columns["more"] = pa.array([dice.random() for _ in at])
    return pa.table(columns)


def random_history(folder: Path, seed: int) -> Both:
    """Hours without a commit, with several, with a compaction behind them."""
    dice = random.Random(seed)
    both = Both(folder, partitioned=bool(seed % 2), dice=dice)
    both.add(0, random_rows(dice, 0), 0)
    for hour in range(HOURS):
        for number in range(dice.randrange(3)):
            both.add(hour, random_rows(dice, hour), 1 + number)
        if dice.random() < 0.3 and hour:
            both.compact(hour)
    return both


def published(one: Pipeline, root: Path) -> dict[str, list[dict[str, object]]]:
    keys = [(name, "ascending") for name in ("window_start", "city")]
    return {name: read(one, name, root=root, provisional=True).sort_by(keys).to_pylist() for name in one.windows}


def in_order(dice: random.Random) -> Sequence[tuple[int, int]]:
    """Stretches of hours, in which runs read them: at once, one by one, or in any order."""
    how = dice.randrange(3)
    if how == 0:
        return [(0, HOURS)]
    one_by_one = [(hour, hour + 1) for hour in range(HOURS)]
    return one_by_one if how == 1 else [*dice.sample(one_by_one, HOURS), (2, 4)]


@pytest.mark.parametrize("seed", range(max(6, cases(600) // 100)))
def test_random_histories(tmp_path: Path, seed: int) -> None:
    both = random_history(tmp_path, seed)
    files, table = both.pipelines()
    run_here(files, root=tmp_path / "state", start=START, end=START + HOURS * HOUR)
    for begin, end in in_order(both.dice):
        run_here(table, root=tmp_path / "state", start=START + begin * HOUR, end=START + end * HOUR)
    found, expected = published(table, tmp_path / "state"), published(files, tmp_path / "state")
    assert repr(found) == repr(expected)
    assert any(row["n"] for rows in found.values() for row in rows)
