"""The last 100 rows after every row in Polars: rolling sums and extremes over each key, in the order of arrival."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from polars import col

ROWS = 100


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write a window for every row from the hundredth of its key on."""
    rolling = {
        "window_index": pl.int_range(1 - ROWS, pl.len() + 1 - ROWS),
        "window_start": col("t").to_physical().rolling_min(ROWS),
        "window_end": col("t").to_physical().rolling_max(ROWS),
        "sum_a": col("a").rolling_sum(ROWS),
        "sum_b": col("b").rolling_sum(ROWS),
        "min_b": col("b").rolling_min(ROWS),
        "max_b": col("b").rolling_max(ROWS),
    }
    rows = pl.scan_parquet(list(files)).sort("key", maintain_order=True).collect()
    windows = rows.lazy().select("key", **{name: column.over("key") for name, column in rolling.items()})
    windows.filter(col("window_index") >= 0).with_columns(
        col("window_start", "window_end").cast(pl.Datetime("us", "UTC")), n=pl.lit(ROWS, pl.Int64)
    ).sink_parquet(out / "windows.parquet", compression="lz4")
