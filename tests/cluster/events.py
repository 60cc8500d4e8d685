"""A history for clusters: many keys, late rows, floats whose sum depends on the order, windows of most kinds."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

START, HOUR, HOURS = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1), 6
END = START + HOURS * HOUR


def write(folder: Path, rows: int) -> None:
    """Two files for each hour."""
    (folder / "data").mkdir()
    for hour in range(HOURS):
        for part in "ab":
            dice = np.random.default_rng([hour, ord(part)])
            times = int((START + hour * HOUR).timestamp() * 1e6) + dice.integers(-1_800_000_000, 3_600_000_000, rows)
            columns = {"at": pa.array(times).cast(pa.timestamp("us", tz="UTC")), "k": dice.integers(0, 3000, rows)}
            columns |= {"x": pa.array(dice.normal(size=rows) * 10.0 ** dice.integers(0, 12, rows))}
            pq.write_table(pa.table(columns), folder / f"data/{START + hour * HOUR:%H}{part}.parquet")


def pipeline(folder: Path) -> Pipeline:
    return Pipeline(
        name="clustered",
        source=sources.files(str(folder / "data/{start:%H}*.parquet"), event_time="at"),
        schedule="@hourly",
        start=START,
        keys=["k"],
        windows={
            "sliding": windows.sliding("1h", step="10m", grace="20m"),
            "session": windows.session("3m", grace="20m"),
            "hundred": windows.arrival(windows.by_count(20), trigger=windows.by_count(10)),
        },
        aggregates={"n": agg.count(), "total": agg.sum("x"), "spread": agg.stddev("x"), "last": agg.last("x"), "middle": agg.median("x")},
    )
