"""Every 100 rows in Spark: rows numbered in the order of arrival within their key, then `groupBy`."""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Window
from pyspark.sql import functions as f

from benchmarks.peers.local_spark import aggregates, session, start

__all__ = ["start", "write_windows"]


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows that are full."""
    by_arrival = Window.partitionBy("key").orderBy("_metadata.file_path", "_metadata.row_index")
    rows = session().read.parquet(*map(str, files)).withColumn("number", f.row_number().over(by_arrival) - 1)
    span = (f.min("t").alias("window_start"), f.max("t").alias("window_end"))
    windows = rows.groupBy("key", f.floor(f.col("number") / 100).alias("window_index")).agg(*span, *aggregates())
    windows.where("n = 100").write.mode("overwrite").parquet(str(out))
