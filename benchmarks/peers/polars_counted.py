"""Every 100 rows in Polars: rows numbered in the order of arrival within their key, then one group-by."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from polars import col


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows that are full."""
    index = pl.int_range(pl.len()).over("key") // 100
    rows = pl.scan_parquet(list(files)).with_columns(window_index=index).collect()
    windows = (
        rows.lazy()
        .group_by("key", "window_index")
        .agg(
            window_start=col("t").min(),
            window_end=col("t").max(),
            n=pl.len().cast(pl.Int64),
            sum_a=col("a").sum(),
            sum_b=col("b").sum(),
            min_b=col("b").min(),
            max_b=col("b").max(),
        )
    )
    windows.filter(col("n") == 100).sink_parquet(out / "windows.parquet", compression="lz4")
