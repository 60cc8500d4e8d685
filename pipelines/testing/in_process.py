"""A session that runs Spark's tasks in this process: the jobs are those of a run, only Spark is not needed."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Rows:
    """`spark.range(...)`, and what a task makes of it."""

    batch: pa.RecordBatch
    task: Task | None = None

    def mapInArrow(self, task: Task, _schema: str) -> Rows:  # noqa: N802 - Spark's name
        """The same rows, to be given to a task."""
        return Rows(self.batch, task)

    def collect(self) -> list[Any]:
        """The task's rows; it is called once for each row it gets."""
        items = [self.batch.slice(at, 1) for at in range(len(self.batch))] if self.task else []
        return [SimpleNamespace(**row) for item in items for out in self.task(iter([item])) for row in out.to_pylist()]  # type: ignore[misc]


class InProcess:
    """As much of a SparkSession as the jobs use."""

    sparkContext = SimpleNamespace(defaultParallelism=1)  # noqa: N815 - Spark's name

    @staticmethod
    def range(start: int, end: int, _step: int, _partitions: int) -> Rows:
        """Whole numbers."""
        return Rows(pa.RecordBatch.from_pydict({"id": pa.array(range(start, end), pa.int64())}))
