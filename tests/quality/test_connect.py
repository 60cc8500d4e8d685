"""The same door over Spark Connect, in a process of its own: classic and Connect sessions cannot share one."""

from pathlib import Path

import pyarrow as pa

from tests.case_counts import at_length
from tests.connect_process import printed_over_connect
from tests.quality.conftest import Stage

SCRIPT = """
import json, logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
from pyspark.sql import SparkSession
from muntin.quality import validate
from muntin.quality.suite import Expectation, Suite

spark = SparkSession.builder.remote("local[1]").getOrCreate()
between = "expect_column_values_to_be_between"
suite = Suite("test", (
    Expectation(between, {"column": "flights", "min_value": 1}),
    Expectation(between, {"column": "delay", "max_value": 600}),
    Expectation("unexpected_rows_expectation", {"unexpected_rows_query": "select * from {batch} where flights = 0"}),
    Expectation("expect_table_row_count_to_be_between", {"min_value": 1}),
))
report = validate(spark, suite, files=[sys.argv[1]], window="day", keys=["origin"], rows=3)
nothing = validate(spark, suite, files=[], window="day", keys=["origin"], rows=0)
print(json.dumps([type(spark).__module__, report.to_dict(), nothing.verdict]))
spark.stop()
"""


@at_length
def test_numbers_and_rows_come_over_connect(stage: Stage, tmp_path: Path) -> None:
    file = stage(flights=pa.array([1, 0, 1], pa.int64()))
    (module, report, nothing), printed = printed_over_connect(SCRIPT, file, home=tmp_path / "home", TZ="Asia/Tokyo")
    assert "great_expectations" not in printed, "its import logs hundreds of lines at INFO"
    assert module == "pyspark.sql.connect.session"
    assert report["verdict"] == "failed: 2 critical of 4 checks on 3 rows"
    row = {"origin": "JFK", "window_start": "2013-01-01T01:00:00Z", "window_end": "2013-01-01T07:00:00Z"}
    assert report["checks"][0]["failing_rows"] == [row | {"flights": 0}]
    assert report["checks"][2]["failing_rows"][0].items() >= row.items()
    assert report["checks"][2]["observed_value"] == 1
    assert nothing.startswith("failed: 1 critical of 1 check on 0 rows")
