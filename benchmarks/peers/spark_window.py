"""Sliding windows as Spark's documentation writes them: `window()` and `groupBy`, every event in a hundred rows."""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import functions as f

from benchmarks.peers.local_spark import session, start

__all__ = ["start", "write_windows"]


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows of 100 s, step 1 s, that hold an event."""
    events = session().read.parquet(*map(str, files))
    windows = events.groupBy("key", f.window("t", "100 seconds", "1 second").alias("w")).agg(
        f.count("*").alias("n"),
        f.sum("a").alias("sum_a"),
        f.sum("b").alias("sum_b"),
        f.min("b").alias("min_b"),
        f.max("b").alias("max_b"),
    )
    span = (f.col("w.start").alias("window_start"), f.col("w.end").alias("window_end"))
    windows.select("key", *span, "n", "sum_a", "sum_b", "min_b", "max_b").write.mode("overwrite").parquet(str(out))
