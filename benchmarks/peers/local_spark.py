"""The session all Spark peers share: this machine's cores, half of its memory, no web page."""

import os
import sys

import psutil
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f


def session() -> SparkSession:
    """The process's session, started when there is none."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    cores = os.cpu_count() or 1
    builder = SparkSession.builder.master(f"local[{cores}]").appName("benchmark")
    settings: dict[str, bool | float | str | None] = {
        "spark.driver.memory": f"{psutil.virtual_memory().total // 2**21}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(4 * cores),
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    }
    return builder.config(map=settings).getOrCreate()


def start() -> None:
    """Start the session, which takes seconds and is no part of the job."""
    session()


def states(events: DataFrame) -> DataFrame:
    """One state per key and second; `frame` counts seconds since 1970."""
    return events.groupBy("key", f.unix_seconds("t").alias("frame")).agg(*aggregates())


def with_span(windows: DataFrame) -> DataFrame:
    """Replace `start`, the number of a window's first second, by the window's two instants."""
    return windows.select(
        "key",
        f.timestamp_seconds("start").alias("window_start"),
        f.timestamp_seconds(f.col("start") + 100).alias("window_end"),
        *("n", "sum_a", "sum_b", "min_b", "max_b"),
    )


def aggregates() -> list[Column]:
    """What everyone computes of a window's events, each under its name."""
    return [column.alias(name) for name, column in reductions().items()]


def reductions() -> dict[str, Column]:
    """What everyone computes of a window's events."""
    return {"n": f.count("*"), "sum_a": f.sum("a"), "sum_b": f.sum("b"), "min_b": f.min("b"), "max_b": f.max("b")}
