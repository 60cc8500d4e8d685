"""A session that runs Spark's tasks in this process: what a crash or a full disk does to a run does not depend on Spark."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Rows:
    """`spark.range(...)`, and what a task makes of it."""

    batch: pa.RecordBatch
    task: Task | None = None

    def mapInArrow(self, task: Task, _schema: str) -> "Rows":  # noqa: N802 - Spark's name
        return Rows(self.batch, task)

    def collect(self) -> list[Any]:
        """One task an item, as on a cluster."""
        assert self.task is not None
        items = (self.batch.slice(at, 1) for at in range(len(self.batch)))
        return [SimpleNamespace(**row) for item in items for out in self.task(iter([item])) for row in out.to_pylist()]


class Here:
    """As much of a SparkSession as the jobs use."""

    sparkContext = SimpleNamespace(defaultParallelism=2)  # noqa: N815 - Spark's name

    @staticmethod
    def range(start: int, end: int, _step: int, _partitions: int) -> Rows:
        return Rows(pa.RecordBatch.from_pydict({"id": pa.array(range(start, end), pa.int64())}))
