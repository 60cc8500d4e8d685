"""Calendar days in Polars: the date of the local time, then one group-by."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from polars import col

ZONE = "America/New_York"


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the days of New York that hold an event."""
    day = col("t").dt.convert_time_zone(ZONE).dt.date()
    days = pl.scan_parquet(list(files)).group_by("key", day.alias("day"))
    windows = days.agg(
        n=pl.len().cast(pl.Int64),
        sum_a=col("a").sum(),
        sum_b=col("b").sum(),
        min_b=col("b").min(),
        max_b=col("b").max(),
    )
    windows.select(
        "key",
        _midnight(col("day")).alias("window_start"),
        _midnight(col("day").dt.offset_by("1d")).alias("window_end"),
        *("n", "sum_a", "sum_b", "min_b", "max_b"),
    ).collect(engine="streaming").write_parquet(out / "windows.parquet", compression="lz4")


def _midnight(day: pl.Expr) -> pl.Expr:
    return day.cast(pl.Datetime("us")).dt.replace_time_zone(ZONE).dt.convert_time_zone("UTC")
