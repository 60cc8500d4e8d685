"""A session that runs Spark's tasks in this process: the jobs are those of a run, only Spark is not needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True, slots=True)
class Items:
    """`sparkContext.parallelize(...)`, and what a task makes of it."""

    items: Iterable[Any]

    def map(self, task: Callable[[Any], Any]) -> Items:
        """What the task makes of each item, when it is collected."""
        return Items(task(item) for item in self.items)

    def collect(self) -> list[Any]:
        """The items in order."""
        return list(self.items)


class Context:
    """As much of a SparkContext as the jobs use."""

    defaultParallelism = 1  # noqa: N815 - Spark's name

    @staticmethod
    def parallelize(items: Iterable[Any], _partitions: int) -> Items:
        """The items, to be given to a task."""
        return Items(items)


class InProcess:
    """As much of a SparkSession as the jobs use."""

    sparkContext = Context  # noqa: N815 - Spark's name
