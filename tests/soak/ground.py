"""A pipeline in a folder, that processes of their own may run, and what a clean run of it publishes."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, read, run
from muntin.tasks import Local
from tests.properties.equal_values import bitwise
from tests.soak.flow import START, flow

HERE: Any = Local(2)
HOUR = timedelta(hours=1)
SCHEMA = pa.schema([("t", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("x", pa.float64())])
BATCHES = 4
REPOSITORY = Path(__file__).parents[2]
DEFINITION = """
from tests.soak.flow import flow

ground = flow({folder!r})
"""


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
        command = [sys.executable, "-m", "muntin", "run", *arguments, "--spark", "local[2]"]
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "PYSPARK_PYTHON": sys.executable}
        return subprocess.Popen(
            command, cwd=self.folder, env=environment, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def tables(self, root: str | Path = "state") -> dict[str, pa.Table]:
        return {name: read(self.pipeline, name, root=self.folder / root) for name in self.pipeline.windows}

    def wrong(self, root: str | Path = "state") -> list[str]:
        """The windows that differ from a clean run after a last run over all."""
        self.run(root)
        return self.differs(root)

    def differs(self, root: str | Path = "state", clean: str = "clean") -> list[str]:
        """The windows that differ from a clean run as they are. `clean`: the folder of the clean run, which is new."""
        self.run(clean)
        ours, wanted = self.tables(root), self.tables(clean)
        return [name for name in wanted if not bitwise(ours[name], wanted[name])]


Round = Callable[[Path, Random], str]
"""One round of a part of the soak: in an empty folder, with its chance; returns what happened. What is wrong is an AssertionError."""
