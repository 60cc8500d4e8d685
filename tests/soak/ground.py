"""A pipeline in a folder, that processes of their own may run, and what a clean run of it publishes."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines import Pipeline, read, run, sources, windows
from pipelines import aggregates as agg
from tests.properties.equal_values import bitwise
from tests.storage.spark_in_process import Here

HERE: Any = Here()
START, HOUR = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1)
SCHEMA = pa.schema([("t", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("x", pa.float64())])
BATCHES = 4
REPOSITORY = Path(__file__).parents[2]
DEFINITION = """
from tests.soak.ground import flow

ground = flow({folder!r})
"""


def flow(folder: str) -> Pipeline:
    """Three ways in which windows follow from batches."""
    return Pipeline(
        name="ground",
        source=sources.files(f"{folder}/data/{{start:%H}}.parquet", event_time="t"),
        schedule="1h",
        start=START,
        keys=["k"],
        windows={
            "sliding": windows.sliding("2h", step="30m"),
            "visits": windows.session("20m"),
            "sevens": windows.arrival(windows.by_count(7)),
        },
        aggregates={"n": agg.count(), "total": agg.sum("x"), "spread": agg.stddev("x")},
    )


@dataclass
class Ground:
    """The folder, and the chance that fills it."""

    folder: Path
    dice: Random

    def __post_init__(self) -> None:
        (self.folder / "data").mkdir(parents=True)
        self.file.write_text(DEFINITION.format(folder=str(self.folder)))
        for at in range(BATCHES):
            self.write(at)

    @property
    def file(self) -> Path:
        return self.folder / "ground.py"

    @property
    def pipeline(self) -> Pipeline:
        return flow(str(self.folder))

    def write(self, at: int) -> None:
        """The rows of a batch, some of them late, some without a time; other ones every time."""
        dice = self.dice
        rows = [
            {
                "t": START + HOUR * (at + dice.random() - dice.choice((0, 0, 0, 1))) if dice.random() < 0.95 else None,
                "k": dice.choice("abü"),
                "x": dice.gauss(0, 1e9),
            }
            for _ in range(dice.randrange(40))
        ]
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), self.folder / f"data/{at:02d}.parquet")

    def run(self, root: str | Path = "state", first: int = 0, end: int = BATCHES, **more: Any) -> Any:
        """In this process, without Spark."""
        borders = {"start": START + first * HOUR, "end": START + end * HOUR}
        return run(self.pipeline, root=self.folder / root, spark=HERE, **borders, **more)

    def muntin(self, first: int = 0, end: int = BATCHES) -> "subprocess.Popen[str]":
        """`muntin run` with Spark, in a group of processes of its own."""
        arguments = [str(self.file), "--root", str(self.folder / "state")]
        arguments += ["--start", f"{START + first * HOUR:%Y-%m-%dT%H:%M}", "--end", f"{START + end * HOUR:%Y-%m-%dT%H:%M}"]
        command = [sys.executable, str(REPOSITORY / "muntin_cli.py"), "run", *arguments]
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "PYSPARK_PYTHON": sys.executable}
        return subprocess.Popen(
            command, cwd=self.folder, env=environment, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def tables(self, root: str | Path = "state") -> dict[str, pa.Table]:
        return {name: read(self.pipeline, name, root=self.folder / root) for name in self.pipeline.windows}

    def wrong(self, root: str | Path = "state") -> list[str]:
        """The windows that differ from a clean run after a last run over all."""
        self.run(root)
        self.run("clean")
        ours, clean = self.tables(root), self.tables("clean")
        return [name for name in clean if not bitwise(ours[name], clean[name])]


Round = Callable[[Path, Random], str]
"""One round of a part of the soak: in an empty folder, with its chance; returns what happened. What is wrong is an AssertionError."""
