"""A Delta table that Spark changes, with a change feed and vectors of deleted rows, without a feed, and by partitions."""

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from tests.conftest import JARS
from tests.end_to_end.hourly import START, hour
from tests.tables.delta_tables import dated

PROGRAM = """
import sys
from pyspark.sql import SparkSession
settings = {
    "spark.jars": ",".join(sys.argv[1:]),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
for line in sys.stdin:
    session.sql(line)
session.stop()
"""
# hours     0                 1                    2                      3
# 1         c, 1.0            u, 10.0
# 2         c, 2.0                                                        its partition is deleted
# 3         c, 3.0            d
# 4                           c, 4.0, merged       u, 40.0, at 2:10
# 5                           c, 5.0, merged                              as it was, overwritten
STATEMENTS = [
    "CREATE TABLE {t} (id BIGINT, at TIMESTAMP, x DOUBLE, city STRING) USING delta PARTITIONED BY (city) TBLPROPERTIES ({properties})",
    "INSERT INTO {t} VALUES (1, '{0}', 1.0, 'Graz'), (2, '{0}', 2.0, 'Linz'), (3, '{0}', 3.0, 'Graz'), (9, '{0}', 9.0, 'Graz')",
    "UPDATE {t} SET x = 10.0 WHERE id = 1",
    (
        "MERGE INTO {t} AS t USING (SELECT * FROM VALUES (3, '{1}', 0.0, 'Graz'), (4, '{1}', 4.0, 'Graz'), (5, '{1}', 5.0, 'Wien') "
        "AS v(id, at, x, city)) AS s ON s.id = t.id WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED THEN INSERT (id, at, x, city) VALUES (s.id, s.at::timestamp, s.x, s.city)"
    ),
    "UPDATE {t} SET x = 40.0, at = '{2}' WHERE id = 4",
    "OPTIMIZE {t}",
    "DELETE FROM {t} WHERE city = 'Linz'",
    "INSERT OVERWRITE {t} SELECT * FROM {t}",
]
MADE = [0.1, 0.2, 1.1, 1.2, 2.1, 2.2, 3.1, 3.2]  # hour of each commit
FEED = ["delta.enableChangeDataFeed = true", "delta.enableDeletionVectors = false"]
LEFT = {0: [9.0, 10.0], 1: [5.0], 2: [40.0]}


def told(table: Path, properties: Sequence[str]) -> str:
    """The statements, a line each."""
    named = {"t": f"delta.`{table}`", "properties": ", ".join(properties)}
    times = [f"{START + timedelta(hours=at, minutes=10):%Y-%m-%d %H:%M:%S}" for at in range(3)]
    return "\n".join(statement.format(*times, **named) for statement in STATEMENTS)


def test_what_spark_changes_is_changed_in_the_batch_that_brought_it(tmp_path: Path) -> None:
    if not any("delta-spark" in jar.name for jar in JARS):
        pytest.skip("no jar of Delta: bash setup/jars.sh fetches it where Maven is")
    tables = {"feed": FEED, "vectors": [FEED[0], "delta.enableDeletionVectors = true"], "without": ["delta.enableChangeDataFeed = false"]}
    lines = "\n".join(told(tmp_path / name, properties) for name, properties in tables.items())
    here = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    subprocess.run([sys.executable, "-c", PROGRAM, *map(str, JARS)], input=lines, text=True, check=True, env=here, cwd=tmp_path)
    for name in tables:
        for version, at in enumerate(MADE):
            dated(tmp_path / name, hour(at), version)
        source = sources.table(str(tmp_path / name), event_time="at", changes=True, rows=sources.events(id="id", within="6h"))
        wanted = {"windows": {"hour": windows.tumbling("1h")}, "aggregates": {"all": agg.collect_sorted("x")}}
        shop = Pipeline(name=name, source=source, schedule="1h", start=START, **wanted)  # type: ignore[arg-type]
        for at in range(4):
            run(shop, root=tmp_path / "state", start=hour(at), end=hour(at + 1))
        found = read(shop, "hour", root=tmp_path / "state", provisional=True)
        assert dict(zip(found["window_start"].to_pylist(), found["all"].to_pylist(), strict=True)) == {
            hour(at): x for at, x in LEFT.items()
        }
