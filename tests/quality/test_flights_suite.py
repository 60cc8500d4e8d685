"""The suite that comes with the flights pipeline: it lets real windows pass and sees each way they can be wrong."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.quality import load_suite, validate
from tests.quality.conftest import INSTANT, Stage, hour

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHIPPED = Path(__file__).parents[2] / "expectations" / "flights_last_6_hours.json"


def test_the_extremes_of_the_year_2013_pass(spark: "SparkSession", stage: Stage) -> None:
    extremes = stage(
        flights=pa.array([1, 149, 2], pa.int64()),
        late=pa.array([0, 149, 2], pa.int64()),
        delay=pa.array([-23.0, 0.0, 267.5]),
    )
    report = validate(spark, load_suite(SHIPPED), files=[extremes], window="last_6_hours", keys=["origin"], rows=3)
    assert report.verdict == "passed: 9 checks on 3 rows"


# rows       0     1     2    3    4    5    6
# wrong      null  BOS   no   no   0    late delay: 1 beyond both bounds, 1 beyond the warning only (row 0)
#            key   key   start end      > all
def test_each_wrong_window_is_seen(spark: "SparkSession", stage: Stage) -> None:
    wrong = stage(
        origin=[None, "BOS", "LGA", "EWR", "JFK", "LGA", "EWR"],
        window_start=pa.array([hour(0), hour(1), None, hour(3), hour(4), hour(5), hour(6)], INSTANT),
        window_end=pa.array([hour(6), hour(7), hour(8), None, hour(10), hour(11), hour(12)], INSTANT),
        flights=pa.array([9, 9, 9, 9, 0, 9, 9], pa.int64()),
        late=pa.array([0, 0, 0, 0, 0, 10, 0], pa.int64()),
        delay=pa.array([301.0, 0.0, 0.0, 0.0, 0.0, 0.0, 601.0]),
    )
    report = validate(spark, load_suite(SHIPPED), files=[wrong], window="last_6_hours", keys=["origin"], rows=7)
    assert [(check.severity, check.unexpected_count) for check in report.checks] == [
        ("warning", None),
        *[("critical", 1)] * 7,
        ("warning", 2),
    ]
    assert report.verdict == "failed: 7 critical, 1 warning of 9 checks on 7 rows"
    assert {len(check.failing_rows) for check in report.failed} == {1, 2}
