"""The last 100 rows after every row in Spark: a ROWS frame, by key in the order of arrival."""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Window
from pyspark.sql import functions as f

from benchmarks.peers.local_spark import reductions, session, start

__all__ = ["start", "write_windows"]


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write a window for every row from the hundredth of its key on."""
    by_arrival = Window.partitionBy("key").orderBy("_metadata.file_path", "_metadata.row_index")
    last = by_arrival.rowsBetween(-99, 0)
    reduced = {"window_start": f.min("t"), "window_end": f.max("t")} | reductions()
    number = f.row_number().over(by_arrival)
    rows = session().read.parquet(*map(str, files))
    windows = rows.select("key", (number - 100).alias("window_index"), *(one.over(last).alias(name) for name, one in reduced.items()))
    windows.where("n = 100").write.mode("overwrite").parquet(str(out))
