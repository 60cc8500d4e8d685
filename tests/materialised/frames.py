"""What tests read by Spark: functions as a definition has them, and the pipeline around them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from tests.source_options import grouped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START = datetime(2024, 5, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
Reading = Callable[["SparkSession", datetime, datetime], "DataFrame"]


def hourly(reading: Reading, **more: Any) -> Pipeline:
    """Numbers and sums of `x` by `city` and hour."""
    source = sources.spark(reading, **grouped(**{"event_time": "at", **more.pop("source", {})}))
    known = {"keys": ["city"], "windows": {"hour": windows.tumbling("1h")}, "aggregates": {"n": agg.count(), "total": agg.sum("x")}}
    return Pipeline(name=more.pop("name", "hourly"), source=source, schedule="1h", start=START, **{**known, **more})


def stored(form: str, place: str, spark: "SparkSession", start: datetime, end: datetime) -> "DataFrame":
    """The rows of an interval of a table that Spark finds at a place."""
    from pyspark.sql import functions as f

    return spark.read.format(form).load(place).where(f.col("seen").between(start, end - timedelta(microseconds=1)))


def at(form: str, place: object) -> Reading:
    return partial(stored, form, str(place))


def windows_in(root: object, pipeline: Pipeline) -> list[dict[str, Any]]:
    from muntin import read

    found = read(pipeline, "hour", root=Path(str(root))).sort_by([("window_start", "ascending"), ("city", "ascending")])
    return found.to_pylist()  # type: ignore[no-any-return]
