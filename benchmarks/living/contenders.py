"""Who keeps the tables up to date, each as its documentation says: the history at once, then a day after the other.

The tables are `day` (rows and sums of each key and day) and `visit` (the same of sessions with a gap of half an hour). A contender writes
them as Parquet for the comparison, which its CPU seconds leave out.
"""

# ruff: noqa: D102 - methods are those of `Contender`

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.living.world import DAY, DAY_US, GAP_US, START, World

TABLES = ("day", "visit")
LOOK_BACK = 3
"""Days, as people who use dbt choose it."""


@dataclass(frozen=True)
class Contender(ABC):
    """What happens, and a folder of its own."""

    world: World
    state: Path

    @abstractmethod
    def first(self) -> None:
        """Compute the history."""

    @abstractmethod
    def day(self, day: int) -> None:
        """Take in what came and changed on a day."""

    @abstractmethod
    def tables(self, out: Path) -> None:
        """Write `day.parquet` and `visit.parquet`, as far as there are such tables: k, start_us, end_us, n, x."""


def _us(day: int) -> int:
    return int(START.timestamp()) * 1_000_000 + day * DAY_US


def sql(rows: str, starts_us: int = -(2**62)) -> dict[str, str]:
    """Table -> the SQL of DuckDB over `rows`: of days and sessions that begin at an instant or later."""
    us = f'(SELECT k, x, epoch_us("at") AS us FROM {rows})'
    nth = f"sum(CASE WHEN us - before > {GAP_US} THEN 1 ELSE 0 END) OVER (PARTITION BY k ORDER BY us)"
    near = f"(SELECT *, {nth} AS nth FROM (SELECT *, lag(us) OVER (PARTITION BY k ORDER BY us) AS before FROM {us}))"
    figures = "count(*) AS n, sum(x)::BIGINT AS x"
    days = f"SELECT k, us - us % {DAY_US} AS start_us, us - us % {DAY_US} + {DAY_US} AS end_us, {figures} FROM {us} GROUP BY 1, 2, 3"
    visits = f"SELECT k, min(us) AS start_us, max(us) + {GAP_US} AS end_us, {figures} FROM {near} GROUP BY k, nth"
    return {name: f"SELECT * FROM ({query}) WHERE start_us >= {starts_us}" for name, query in (("day", days), ("visit", visits))}


def _duckdb(path: str = ":memory:") -> Any:  # noqa: ANN401 - a connection
    import duckdb

    session = duckdb.connect(path, config={"threads": 1})
    session.execute("SET enable_progress_bar = false")
    return session


def _rows(world: World, day: int) -> str:
    gone = world.gone(day)
    some = "" if gone is None else f" WHERE k <> {gone}"
    return f"(SELECT * FROM read_parquet('{world.folder}/*.parquet'){some})"


class Muntin(Contender):
    """Muntin: windows are published as they end, and revised by rows that come up to eight days late."""

    def first(self) -> None:
        self._run(0, self.world.days)

    def day(self, day: int) -> None:
        at, key = self.world.deletion
        if day == at:
            from muntin import forget

            forget(self._definition(), [{"k": key}], root=self.state)
        self._run(day, day + 1)

    def tables(self, out: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from muntin import read

        for name in TABLES:
            rows = read(self._definition(), name, root=self.state)
            bounds = [rows[bound].cast(pa.int64()) for bound in ("window_start", "window_end")]
            pq.write_table(
                pa.table([rows["k"], *bounds, rows["n"], rows["x"]], ["k", "start_us", "end_us", "n", "x"]), out / f"{name}.parquet"
            )

    def _run(self, first: int, end: int) -> None:
        from muntin import run
        from muntin.tasks import Local

        run(self._definition(), root=self.state, start=START + first * DAY, end=START + end * DAY, spark=Local(1))

    def _definition(self) -> Any:  # noqa: ANN401 - a pipeline
        from muntin import Limits, Pipeline, sources, windows
        from muntin import aggregates as agg

        return Pipeline(
            name="living",
            source=sources.files(f"{self.world.folder}/{{start:%Y-%m-%d}}.parquet", event_time="at"),
            schedule="@daily",
            start=START,
            keys=["k"],
            windows={
                "day": windows.tumbling("1d", allowed_lateness="8d"),
                "visit": windows.session("30m", allowed_lateness="8d"),
            },
            aggregates={"n": agg.count(), "x": agg.sum("x")},
            limits=Limits(settle_after=0),
        )


class AskAgain(Contender):
    """DuckDB: every day, the whole question over all files."""

    def first(self) -> None:
        self.day(self.world.days - 1)

    def day(self, day: int) -> None:
        with _duckdb() as session:
            for name, query in sql(_rows(self.world, day)).items():
                session.execute(f"COPY ({query}) TO '{self.state}/{name}.parquet' (FORMAT parquet)")

    def tables(self, out: Path) -> None:
        for name in TABLES:
            (out / f"{name}.parquet").write_bytes((self.state / f"{name}.parquet").read_bytes())


class Polars(Contender):
    """Polars: every day, the whole question over all files."""

    def first(self) -> None:
        self.day(self.world.days - 1)

    def day(self, day: int) -> None:
        import polars as pl
        from polars import col

        gone = self.world.gone(day)
        rows = pl.scan_parquet(self.world.folder / "*.parquet").select("k", "x", us=col("at").dt.epoch("us"))
        rows = rows if gone is None else rows.filter(col("k") != gone)
        figures = {"n": pl.len().cast(pl.Int64), "x": col("x").sum()}
        days = rows.group_by("k", start_us=col("us") // DAY_US * DAY_US).agg(**figures)
        days = days.select("k", "start_us", "n", "x", end_us=col("start_us") + DAY_US)
        near = rows.sort("k", "us")
        begins = (col("k") != col("k").shift()) | (col("us") - col("us").shift() > GAP_US)
        near = near.with_columns(nth=begins.fill_null(value=True).cum_sum())
        visits = near.group_by("k", "nth").agg(start_us=col("us").min(), end_us=col("us").max() + GAP_US, **figures).drop("nth")
        for name, frame in (("day", days), ("visit", visits)):
            frame.sink_parquet(self.state / f"{name}.parquet")

    def tables(self, out: Path) -> None:
        AskAgain(self.world, self.state).tables(out)


class LookBack(Contender):
    """dbt's incremental model, in DuckDB: what begins in the last three days is computed anew."""

    def first(self) -> None:
        with _duckdb(f"{self.state}/shop.duckdb") as session:
            for name, query in sql(_rows(self.world, self.world.days - 1)).items():
                session.execute(f"CREATE TABLE {name} AS {query}")

    def day(self, day: int) -> None:
        since = _us(day - LOOK_BACK)
        rows = f'(FROM {_rows(self.world, day)} WHERE "at" >= make_timestamptz({since}))'
        with _duckdb(f"{self.state}/shop.duckdb") as session:
            for name, query in sql(rows, since).items():
                session.execute(f"BEGIN; DELETE FROM {name} WHERE start_us >= {since}; INSERT INTO {name} BY NAME {query}; COMMIT")
                if day == self.world.deletion[0]:
                    session.execute(f"DELETE FROM {name} WHERE k = {self.world.deletion[1]}")

    def tables(self, out: Path) -> None:
        with _duckdb(f"{self.state}/shop.duckdb") as session:
            for name in TABLES:
                session.execute(f"COPY {name} TO '{out}/{name}.parquet' (FORMAT parquet)")


class View(Contender):
    """ClickHouse's materialised view, in chdb: it sees what is inserted. It has no sessions."""

    def first(self) -> None:
        with self._session() as session:
            session.query(
                "CREATE TABLE events (at DateTime64(6, 'UTC'), k Int64, x Int64, f UInt32) ENGINE = MergeTree PARTITION BY f ORDER BY k"
            )
            session.query("CREATE TABLE day (k Int64, d Date, n UInt64, x Int64) ENGINE = SummingMergeTree ORDER BY (d, k)")
            session.query(
                "CREATE MATERIALIZED VIEW mv TO day AS SELECT k, toDate(at) AS d, count() AS n, sum(x) AS x FROM events GROUP BY k, d"
            )
            for day in range(self.world.days):
                self._insert(session, day)

    def day(self, day: int) -> None:
        with self._session() as session:
            if (old := self.world.replaced.get(day)) is not None:
                session.query(f"ALTER TABLE events DROP PARTITION {old}")
                self._insert(session, old, self.world.gone(day))
            self._insert(session, day, self.world.gone(day))
            if day == self.world.deletion[0]:
                for name in ("events", "day"):
                    session.query(f"ALTER TABLE {name} DELETE WHERE k = {self.world.deletion[1]} SETTINGS mutations_sync = 1")

    def tables(self, out: Path) -> None:
        start = f"toInt64(toUnixTimestamp(toDateTime(d, 'UTC'))) * 1000000 AS start_us, start_us + {DAY_US} AS end_us"
        query = f"SELECT k, {start}, toInt64(sum(n)) AS n, sum(x) AS x FROM day GROUP BY k, d"
        with self._session() as session:
            session.query(f"{query} INTO OUTFILE '{out}/day.parquet' TRUNCATE FORMAT Parquet")

    def _insert(self, session: Any, day: int, gone: int | None = None) -> None:  # noqa: ANN401 - of chdb
        some = "" if gone is None else f" WHERE k != {gone}"
        session.query(f"INSERT INTO events SELECT at, k, x, {day} FROM file('{self.world.path(day)}', Parquet){some}")

    def _session(self) -> Any:  # noqa: ANN401 - of chdb
        from chdb.session import Session

        session = Session(f"{self.state}/clickhouse")
        session.query("SET max_threads = 1")
        return session
