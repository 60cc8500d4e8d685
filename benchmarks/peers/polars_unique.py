"""Unique sliding windows in Polars: a row wherever an event enters or has left, one sort by a packed (key, ms), `rolling`.

Tried and slower at 1 M events (this one 0.6 s): entering and leaving rows sorted together 1.1, states and `rolling_sum_by` 1.3.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from polars import col

EPOCH_MS = 1_704_067_200_000
SIZE_MS = 10_000
KEY = 1 << 34
"""Room for half a year of milliseconds since 2024-01-01, and for the size between two keys."""


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows of 10 s that an event enters or has just left."""
    events = _sorted_events(files)
    left = events.with_columns(col("packed") + SIZE_MS + 1, a=pl.lit(None, pl.Int64), b=pl.lit(None, pl.Float64))
    rows = events.merge_sorted(left, "packed")
    windows = rows.rolling("packed", period=f"{SIZE_MS + 1}i").agg(
        n=col("a").count().cast(pl.Int64),
        sum_a=col("a").sum(),
        sum_b=col("b").sum(),
        min_b=col("b").min(),
        max_b=col("b").max(),
    )
    windows.lazy().filter(col("n") > 0, (col("packed") != col("packed").shift(-1)).fill_null(value=True)).select(
        (col("packed") // KEY).cast(pl.Int32).alias("key"),
        _instant(-SIZE_MS).alias("window_start"),
        _instant(0).alias("window_end"),
        *("n", "sum_a", "sum_b", "min_b", "max_b"),
    ).sink_parquet(out / "windows.parquet", compression="lz4")


def _sorted_events(files: Sequence[Path]) -> pl.DataFrame:
    packed = col("key").cast(pl.Int64) * KEY + (col("t").to_physical() // 1_000 - EPOCH_MS)
    return pl.scan_parquet(list(files)).select("a", "b", packed=packed).sort("packed").collect(engine="streaming")


def _instant(after_ms: int) -> pl.Expr:
    return ((col("packed") % KEY + EPOCH_MS + after_ms) * 1_000).cast(pl.Datetime("us", "UTC"))
