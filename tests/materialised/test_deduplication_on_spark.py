"""Duplicates in different batches over real Spark tasks: rows of a DataFrame."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from muntin import Pipeline, aggregates, read, run, sources, windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START = datetime(2024, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
SCHEMA = "id string, at timestamp, x long"

# day       0    1    2
# ids       a b  b c  a c       within a day: b of day 1 and c of day 2 are duplicates, a of day 2 is none
DAYS = {
    0: [("a", 1, 1), ("b", 20, 2)],
    1: [("b", 30, 4), ("c", 31, 8)],
    2: [("a", 50, 16), ("c", 55, 32)],
}


def test_rows_that_spark_reads_in_one_run_and_backward(spark: "SparkSession", tmp_path: Path) -> None:
    def of_day(session: "SparkSession", start: datetime, _end: datetime) -> "DataFrame":
        rows = [(name, START + timedelta(hours=hour), x) for name, hour, x in DAYS[(start - START).days]]
        return session.createDataFrame(rows, SCHEMA)

    pipeline = Pipeline(
        name="orders",
        source=sources.spark(of_day, event_time="at", rows=sources.events(dedupe="id", within="1d")),
        schedule="@daily",
        start=START,
        windows={"day": windows.tumbling("1d")},
        aggregates={"x": aggregates.sum("x")},
    )
    together = run(pipeline, root=tmp_path / "together", start=START, end=START + 3 * DAY, spark=spark)
    assert [batch.rows_duplicate for batch in together.batches] == [0, 1, 1]
    for first, last in ((1, 2), (0, 0)):
        run(pipeline, root=tmp_path / "backward", start=START + first * DAY, end=START + (last + 1) * DAY, spark=spark)
    tables = [read(pipeline, "day", root=tmp_path / name)["x"].to_pylist() for name in ("together", "backward")]
    assert tables == [[3, 8, 16]] * 2
