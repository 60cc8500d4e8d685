"""Why a definition needs Spark: Spark reads or writes rows of it. Everything else this process can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.sinks import SparkSink
from muntin.sources import SparkSource

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline


def spark_needed(pipeline: Pipeline) -> str | None:
    """What of the definition needs Spark, for people; None: nothing does."""
    if any(isinstance(each, SparkSource) for each in pipeline.sources.values() or [pipeline.source]):
        return "sources.spark"
    return "sinks.spark" if any(isinstance(each, SparkSink) for each in pipeline.to) else None
