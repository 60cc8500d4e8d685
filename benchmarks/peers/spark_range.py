"""Sliding windows in Spark from states: empty rows for the holes, then a RANGE frame over the last hundred seconds."""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from benchmarks.peers.local_spark import session, start, states, with_span

__all__ = ["start", "write_windows"]

STATE = ("n", "sum_a", "sum_b", "min_b", "max_b")


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows of 100 s, step 1 s, that hold an event."""
    last_hundred = Window.partitionBy("key").orderBy("frame").rangeBetween(-99, 0)
    rows = with_empty_rows(states(session().read.parquet(*map(str, files))))
    reduce = {"min_b": f.min, "max_b": f.max}
    columns = [reduce.get(name, f.sum)(name).over(last_hundred).alias(name) for name in STATE]
    windows = rows.select("key", (f.col("frame") - 99).alias("start"), *columns)
    with_span(windows).write.mode("overwrite").parquet(str(out))


def with_empty_rows(frames: DataFrame) -> DataFrame:
    """Add a row for every second without a state at which a window ends that holds one: at most 99 after a state."""
    following = f.lead("frame").over(Window.partitionBy("key").orderBy("frame"))
    until = f.least(following - 1, f.col("frame") + 99)
    second = f.explode(f.sequence("frame", "until")).alias("second")
    rows = frames.withColumn("until", until).select("*", second)
    state = [f.when(f.col("second") == f.col("frame"), f.col(name)).alias(name) for name in STATE]
    return rows.select("key", f.col("second").alias("frame"), *state)
