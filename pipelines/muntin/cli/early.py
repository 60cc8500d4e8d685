"""Spark starts in the background as soon as a command knows that it needs one of its own."""

from typing import TYPE_CHECKING

from muntin.sinks.declaration import SparkSink
from muntin.sources import SparkSource

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline

_alone: list[bool] = []


def alone() -> None:
    """This process is a command's, and ends with it: nobody else starts Spark here."""
    _alone[:] = [True]


def start_spark_early(pipeline: "Pipeline", url: str | None) -> None:
    """Begin to start a local Spark, unless the command was given one by URL; if that fails, it is started where it is needed."""
    if url is None and _alone:
        from muntin.spark.spark_session import begin_local

        begin_local(briefly=not computes(pipeline), queries=computes(pipeline) or bool(pipeline.expectations))


def computes(pipeline: "Pipeline") -> bool:
    """Whether Spark itself reads or writes rows, and not only hands out tasks."""
    sources = pipeline.sources.values() or [pipeline.source]
    return any(isinstance(each, SparkSource) for each in sources) or any(isinstance(each, SparkSink) for each in pipeline.to)
