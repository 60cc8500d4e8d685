"""The pipeline that is killed, raced and starved: in a file that imports as little as a user's definition does."""

from datetime import UTC, datetime

from muntin import Limits, Pipeline, sources, windows
from muntin import aggregates as agg

START = datetime(2024, 1, 1, tzinfo=UTC)


def flow(folder: str) -> Pipeline:
    """Three ways in which windows follow from batches."""
    return Pipeline(
        name="ground",
        source=sources.files(f"{folder}/data/{{start:%H}}.parquet", event_time="t"),
        schedule="1h",
        start=START,
        keys=["k"],
        limits=Limits(max_quarantined=None),  # all rows of a small batch may lack a time
        windows={
            "sliding": windows.sliding("2h", step="30m"),
            "visits": windows.session("20m"),
            "sevens": windows.arrival(windows.by_count(7)),
        },
        aggregates={"n": agg.count(), "total": agg.sum("x"), "spread": agg.stddev("x")},
    )
