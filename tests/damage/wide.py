"""A ground whose rows change, look something up and lie in windows of a table; a key is forgotten, and a run has failed."""

import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, aggregates, forget, sources, windows
from muntin.errors import MuntinError
from tests.damage.ground import MINUTE, START, Ground

INSTANT = pa.timestamp("us", tz="UTC")
ROWS = pa.schema([("at", INSTANT), ("id", pa.int64()), ("op", pa.string()), ("k", pa.string()), ("x", pa.float64())])
SPANS = pa.schema([("k", pa.string()), ("begins", INSTANT), ("ends", INSTANT), ("shift", pa.int64())])
RATES = pa.schema([("k", pa.string()), ("since", INSTANT), ("rate", pa.float64())])


@dataclass(frozen=True)
class Wide(Ground):
    """The rows of ids change for ten minutes; the tables grow at each age."""

    @property
    def pipelines(self) -> Mapping[str, Pipeline]:
        rates = sources.lookup(sources.files(f"{self.folder}/rates.parquet"), keys=["k"], since="since")
        rows = sources.files(
            str(self.folder / "data/{start:%Y%m%dT%H%M}.parquet"),
            event_time="at",
            rows=sources.events(id="id", operation="op", within="10m"),
        )
        spans = {"start": "begins", "end": "ends", "keys": ["k"], "columns": ["shift"]}
        changing = Pipeline(
            name="changing",
            source=rows,
            schedule="1m",
            start=START,
            keys=["k"],
            windows={
                "shift": windows.given(f"{self.folder}/spans.parquet", **spans, grace="1m"),
                "sliding": windows.sliding("5m", step="1m", grace="1m"),
                "visits": windows.session("90s", grace="1m"),
            },
            aggregates={"events": aggregates.count(), "paid": aggregates.sum("x * rates.rate"), "spread": aggregates.stddev("x")},
            lookups={"rates": rates},
        )
        return {"changing": changing}

    def write(self, minute: int, version: int = 0) -> None:
        chance, begin = random.Random(1000 * version + minute), START + minute * MINUTE
        rows = []
        for place in range(10):
            change = place % 3 == 2 and minute > 0
            id_ = chance.randrange(max(0, minute - 8) * 10, minute * 10) if change else minute * 10 + place
            rows.append(
                {
                    "at": begin + timedelta(seconds=chance.uniform(0, 60) - chance.choice((0, 0, 0, 50))),
                    "id": id_,
                    "op": chance.choice("ud") if change else "c",
                    "k": chance.choice("abcü"),
                    "x": chance.gauss(0, 1e9),
                }
            )
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, ROWS), self.folder / f"data/{begin:%Y%m%dT%H%M}.parquet")

    def make(self) -> None:
        self.folder.mkdir(parents=True)
        self.write_tables(self.bulk)
        super().make()
        self._refused(self.folder / "root")

    def run(self, root: Path, first: int, end: int, only: str = "") -> None:
        super().run(root, first, end, only)
        if not (root / "changing/forgotten").exists():
            forget(self.pipelines["changing"], [{"k": "c"}], root=root)

    def _backup(self, root: Path, age: int) -> None:
        super()._backup(root, age)
        self.write_tables(self.bulk + (age + 1) * self.single)

    def _refused(self, root: Path) -> None:
        """A run of the next batch that fails: its file comes later."""
        path = self.folder / f"data/{START + self.batches * MINUTE:%Y%m%dT%H%M}.parquet"
        content = path.read_bytes()
        path.unlink()
        with suppress(MuntinError):
            super().run(root, self.batches, self.batches + 1)
        path.write_bytes(content)

    def write_tables(self, minutes: int) -> None:
        """The spans and rates of so many minutes; those of before stay."""
        spans = [(k, at, at + 4 + (at + ord(k)) % 3, at) for k in "abü" for at in range(0, minutes, 5)]
        rates = [(k, at, 1 + at / 7) for k in "abü" for at in range(0, minutes, 9)]
        rows = [{"k": k, "begins": START + at * MINUTE, "ends": START + end * MINUTE, "shift": n} for k, at, end, n in spans]
        pq.write_table(pa.Table.from_pylist(rows, SPANS), self.folder / "spans.parquet")
        changed = [{"k": k, "since": START + at * MINUTE, "rate": rate} for k, at, rate in rates]
        pq.write_table(pa.Table.from_pylist(changed, RATES), self.folder / "rates.parquet")
