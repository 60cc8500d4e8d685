"""Spark's way to keep a table up to date: a stream of files, and `foreachBatch` that adds what is new to the table.

It has the days alone: `session_window` in a stream gives a session after its watermark, eight days later here. A file that is written anew
under its name is not read again, as Spark's documentation says of file sources. The table is Parquet, written anew with each batch; with
Delta's MERGE, fewer files would be.
"""

# ruff: noqa: D102 - methods are those of `Contender`

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.living.contenders import Contender
from benchmarks.living.world import DAY_US

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class ForeachBatch(Contender):
    """Rows and sums of each key and day, from the files that have come since the last time."""

    def first(self) -> None:
        self.day(self.world.days - 1)

    def day(self, day: int) -> None:
        gone = self.world.gone(day)
        rows = self._spark.readStream.schema("at timestamp, k long, x long").parquet(f"{self.world.folder}")
        rows = rows if gone is None else rows.filter(f"k <> {gone}")
        stream = rows.writeStream.foreachBatch(self._add).option("checkpointLocation", f"{self.state}/checkpoint")
        stream.trigger(availableNow=True).start().awaitTermination()
        if day == self.world.deletion[0]:
            newest = self._newest()
            self._spark.read.parquet(f"{newest}").filter(f"k <> {gone}").write.parquet(f"{newest}-without")

    def tables(self, out: Path) -> None:
        import duckdb

        duckdb.sql(f"FROM '{self._newest()}/*.parquet'").write_parquet(f"{out}/day.parquet")

    def _newest(self) -> Path | None:
        """The table after the last batch."""
        return max((self.state / "day").glob("*"), key=lambda path: path.name, default=None)

    def _add(self, rows: "DataFrame", number: int) -> None:
        start = f"unix_micros(at) - unix_micros(at) % {DAY_US}"
        new = rows.selectExpr("k", f"{start} AS start_us", f"{start} + {DAY_US} AS end_us", "1L AS n", "x")
        if (before := self._newest()) is not None:
            new = new.unionByName(self._spark.read.parquet(f"{before}"))
        days = new.groupBy("k", "start_us", "end_us").sum("n", "x").toDF("k", "start_us", "end_us", "n", "x")
        days.coalesce(1).write.parquet(f"{self.state}/day/{number:06}")

    @cached_property
    def _spark(self) -> Any:  # noqa: ANN401 - a session
        os.environ["PYSPARK_PYTHON"] = sys.executable
        from pyspark.sql import SparkSession

        settings: dict[str, Any] = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "2g",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "1",
        }
        return SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
