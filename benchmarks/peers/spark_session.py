"""Sessions as Spark's documentation writes them: `session_window()` and `groupBy`."""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import functions as f

from benchmarks.peers.local_spark import session, start

__all__ = ["start", "write_windows"]


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the sessions with a gap of 10 s."""
    events = session().read.parquet(*map(str, files))
    sessions = events.groupBy("key", f.session_window("t", "10 seconds").alias("w")).agg(
        f.count("*").alias("n"),
        f.sum("a").alias("sum_a"),
        f.sum("b").alias("sum_b"),
        f.min("b").alias("min_b"),
        f.max("b").alias("max_b"),
    )
    span = (f.col("w.start").alias("window_start"), f.col("w.end").alias("window_end"))
    sessions.select("key", *span, "n", "sum_a", "sum_b", "min_b", "max_b").write.mode("overwrite").parquet(str(out))
