"""Calendar days in Spark: `date_trunc` of the local time and `groupBy`; `window()` knows no zone."""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Column
from pyspark.sql import functions as f

from benchmarks.peers.local_spark import aggregates, session, start

__all__ = ["start", "write_windows"]

ZONE = "America/New_York"


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the days of New York that hold an event."""
    events = session().read.parquet(*map(str, files))
    days = events.groupBy("key", f.date_trunc("day", f.from_utc_timestamp("t", ZONE)).alias("day")).agg(*aggregates())
    span = (_instant(f.col("day")).alias("window_start"), _instant(f.col("day") + f.expr("INTERVAL 1 DAY")).alias("window_end"))
    days.select("key", *span, "n", "sum_a", "sum_b", "min_b", "max_b").write.mode("overwrite").parquet(str(out))


def _instant(day: Column) -> Column:
    return f.to_utc_timestamp(day, ZONE)
