"""The interface of runners: how tasks are run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession


class Runner(Protocol):
    """Runs a function on many items, a task for each.

    Attributes:
        parallelism: how many tasks can run at once.
        spark: the session, for what Spark itself reads, judges or writes; None: there is no Spark.
    """

    @property
    def parallelism(self) -> int: ...

    @property
    def spark(self) -> SparkSession | None: ...

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """`[work(item) for item in items]`; results are plain values, as JSON has them.

        The error of the first item that raised one is raised, in its own type.
        """
        ...

    def __str__(self) -> str:
        """The place where tasks run, for people."""
        ...
