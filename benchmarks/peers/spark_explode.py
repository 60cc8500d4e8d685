"""Sliding windows in Spark from states: one state per key and second, repeated for the hundred windows that hold it."""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import functions as f

from benchmarks.peers.local_spark import session, start, states, with_span

__all__ = ["start", "write_windows"]


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows of 100 s, step 1 s, that hold an event."""
    starts = f.explode(f.sequence(f.col("frame") - 99, f.col("frame"))).alias("start")
    repeated = states(session().read.parquet(*map(str, files))).select("*", starts)
    windows = repeated.groupBy("key", "start").agg(
        f.sum("n").alias("n"),
        f.sum("sum_a").alias("sum_a"),
        f.sum("sum_b").alias("sum_b"),
        f.min("min_b").alias("min_b"),
        f.max("max_b").alias("max_b"),
    )
    with_span(windows).write.mode("overwrite").parquet(str(out))
