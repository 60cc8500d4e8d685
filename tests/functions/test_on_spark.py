"""What a function and a query give is read by tasks of Spark: the windows are those of a run without it, after changes too."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muntin import read, run, sources
from muntin.tasks import Local
from tests.case_counts import at_length
from tests.dimensions.test_asked_tables import FIRST, LATER, case_of, of_functions, of_queries, put
from tests.end_to_end.hourly import hour
from tests.functions.world import World, hourly, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = {
    0: [(1.0, "Graz", 1.5), (59.0, "Linz", 2.0)],
    1: [(2.0, "Graz", 3.0)],
    3: [(0.0, "Graz", 9.0), (1.0, "Graz", 0.1), (2.0, "Graz", 0.2)],
}


@at_length
def test_a_function(spark: "SparkSession", tmp_path: Path) -> None:
    of_spark, here = (World(f"on spark {name}", tmp_path / name) for name in ("spark", "here"))
    for world, more in ((of_spark, {"spark": spark}), (here, {})):
        world.hours.update(ROWS)
        world.run(0, 3, allow_missing=True, **more)
        world.hours.update({1: [(2.0, "Graz", 4.0)], 2: [(5.0, "Linz", 7.0)]})
        world.run(1, 2, **more)
        assert world.asked() == [0, 1, 2, 3, 1, 2]
    assert of_spark.rows() == here.rows()
    assert (2, "Linz", 1, 7.0) in here.rows()


@at_length
def test_a_query(spark: "SparkSession", tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE orders (at TEXT, city TEXT, x REAL, updated INTEGER)")
        connection.executemany(
            "INSERT INTO orders VALUES (?, ?, ?, 0)",
            [(f"{hour(at + minute / 60):%F %T}", city, x) for at, each in ROWS.items() for minute, city, x in each],
        )
    query = "SELECT * FROM orders WHERE at >= {start:%Y-%m-%d %H:%M:%S} AND at < {end:%Y-%m-%d %H:%M:%S} ORDER BY at, x"
    orders = hourly(sources.sql(f"sqlite:///{tmp_path}/shop.db", query, event_time="at", changed="updated"))
    for x in (None, 5.25):
        if x:
            with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
                connection.execute("UPDATE orders SET x = ?, updated = 1 WHERE x = 3.0", (x,))
        for name, runner in (("spark", spark), ("here", Local(2))):
            run(orders, root=tmp_path / name, start=None if x else hour(0), end=hour(4), spark=runner)  # type: ignore[arg-type]
        assert rows(orders, tmp_path / "spark") == rows(orders, tmp_path / "here")
    assert (1, "Graz", 1, 5.25) in rows(orders, tmp_path / "spark")


@at_length
@pytest.mark.parametrize("tables", [of_functions, of_queries])
def test_tables_that_are_asked_for(spark: "SparkSession", tmp_path: Path, tables: Any) -> None:
    (tmp_path / "asked").mkdir()
    put(tmp_path / "asked", FIRST)
    case = case_of(tmp_path / "asked", tables(tmp_path / "asked"))
    for each in (FIRST, LATER):
        put(tmp_path / "asked", each)
        for root, runner in ((tmp_path / "spark", spark), (case.root, Local(2))):
            run(case.pipeline, root=root, start=hour(0), end=hour(2), spark=runner)
        of_each = [
            [read(case.pipeline, each, root=root).to_pylist() for each in case.pipeline.windows] for root in (tmp_path / "spark", case.root)
        ]
        assert of_each[0] == of_each[1]
