"""A Spark that only hands out tasks: its context, and a whole session as soon as anything else is asked of it.

A session loads all that plans and runs queries: of a first run's Java a third, and a run whose rows no query touches needs none of it.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


class TaskSession:
    """To be used as a `SparkSession`.

    Args:
        context: the context, of a process that has no session yet.
    """

    def __init__(self, context: SparkContext) -> None:
        self.sparkContext = context
        self._starting = Lock()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a session has
        """What this class lacks, of the whole session."""
        return getattr(self.whole(), name)

    def whole(self) -> SparkSession:
        """The session, started by the first call."""
        from pyspark.sql import SparkSession

        with self._starting:
            return SparkSession.builder.getOrCreate()
