"""Who computes NEXMark's queries, each from files of events to files of rows: `python -m benchmarks.nexmark.engines` is one in a process.

Prints a line of JSON after each job, as `benchmarks.contestant` does. A process imports the engine that it is, and no other: its memory is
the engine's own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pyarrow as pa

from benchmarks.contestant import timed
from benchmarks.nexmark import queries
from benchmarks.nexmark.queries import ROWS

if TYPE_CHECKING:
    import duckdb

FLINK = Path(__file__).parent / "flink"
FLINK_JARS = FLINK.parents[1] / "data/flink"
_FLINK_TYPES = {
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, turn BIGINT",
    "auction": "auction BIGINT, seller BIGINT, category BIGINT, closes BIGINT, closes_us AS closes",
    "person": "seller BIGINT, name STRING, city STRING, state STRING",
}
_OPENED = ("util", "lang", "nio", "net", "text", "time", "io", "util.concurrent", "util.concurrent.atomic", "util.concurrent.locks")


@dataclass(frozen=True)
class Engine:
    """A name, what starts it, and what gives the rows of a query over the events in a folder, or writes them into another folder."""

    title: str
    start: Callable[[], object]
    job: Callable[[str, Path, Path], pa.Table | None]


def in_process(query: str, folder: Path, out: Path) -> pa.Table:
    """Muntin in the process."""
    from muntin.tasks import Local

    run_muntin(query, folder, out, Local())
    return read_muntin(query, out)


def on_spark(query: str, folder: Path, out: Path) -> pa.Table:
    """Muntin on Spark."""
    run_muntin(query, folder, out, _our_session())
    return read_muntin(query, out)


def run_muntin(query: str, folder: Path, root: Path, spark: Any, batches: range | None = None) -> None:  # noqa: ANN401 - as `run` takes it
    """Run some batches of a query's definitions, one definition after the other; without `batches` all that there are."""
    from benchmarks.nexmark import files
    from muntin import run

    batches = batches or range(len([*(folder / "bid").iterdir()]))
    start, end = (files.BEGIN + number * files.BATCH for number in (batches.start, batches.stop))
    with files.beside(folder.parents[1]):
        for pipeline in queries.definitions(query):
            run(pipeline, root=root, start=start, end=end, spark=spark)


def read_muntin(query: str, root: Path) -> pa.Table:
    """Windows of the last of a query's definitions, those that are not final yet too."""
    from muntin import read

    *_, pipeline = queries.definitions(query)
    (window,) = pipeline.windows
    return read(pipeline, window, root=root, provisional=True)


def with_duckdb(query: str, folder: Path, out: Path, newest: int | None = None) -> None:
    """DuckDB."""
    with over(folder, newest) as session:
        session.execute("SET preserve_insertion_order = false")
        session.execute(f"COPY ({queries.for_duckdb(query)}) TO '{out / ROWS}' (FORMAT parquet)")


def over(folder: Path, newest: int | None = None) -> duckdb.DuckDBPyConnection:
    """A session of DuckDB with views of the events, or of so many newest files of each kind."""
    import duckdb

    session = duckdb.connect(config={"threads": os.cpu_count() or 1})
    session.execute("SET enable_progress_bar = false")  # it would stand before a line of figures
    for kind, more in _views("epoch_us({})").items():
        files = [f"{folder}/{kind}/*.parquet"] if newest is None else sorted(map(str, (folder / kind).iterdir()))[-newest:]
        session.execute(f"CREATE VIEW {kind} AS SELECT *, {more} FROM read_parquet({files})")
    return session


def _views(micros: str) -> dict[str, str]:
    us = f"{micros.format('dateTime')} AS us"
    return {"bid": us, "auction": f"{us}, {micros.format('closes')} AS closes_us", "person": us}


def with_polars(query: str, folder: Path, out: Path) -> None:
    """Polars, lazily."""
    from benchmarks.nexmark.frames import FRAMES, frames

    FRAMES[query](frames(folder)).sink_parquet(out / ROWS)


def with_spark(query: str, folder: Path, out: Path) -> None:
    """Spark SQL."""
    spark = _spark_session()
    for kind, more in _views("unix_micros({})").items():
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {kind} AS SELECT *, {more} FROM parquet.`{folder / kind}`")
    spark.sql(queries.for_spark(query)).write.parquet(str(out / ROWS))


def with_flink(query: str, folder: Path, out: Path) -> None:
    """Flink SQL in batch mode, which reads files to their end and then gives each row once."""
    where = "WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{}')"
    for kind, columns in _FLINK_TYPES.items():
        _to_flink(f"DROP TABLE IF EXISTS {kind}")
        _to_flink(f"CREATE TABLE {kind} ({columns}, `dateTime` BIGINT, us AS `dateTime`) {where.format(folder / kind)}")
    _to_flink("DROP TABLE IF EXISTS found")
    _to_flink(f"CREATE TABLE found {where.format(out / ROWS)} AS {queries.for_flink(query)}")


def flink_command(half_mb: int, *classes: Path) -> list[str | Path]:
    """Java with Flink's jars and other classes, with so much memory; the program and its arguments follow."""
    import pyspark

    from examples.demo.home import program_env

    jars = [*classes, *FLINK_JARS.glob("*.jar"), *(Path(pyspark.__file__).parent / "jars").glob("hadoop-client-*.jar")]
    opened = [word for name in _OPENED for word in ("--add-opens", f"java.base/java.{name}=ALL-UNNAMED")]
    return [Path(program_env()["JAVA_HOME"], "bin/java"), *opened, f"-Xmx{half_mb}m", "-cp", ":".join(map(str, jars))]


@cache
def _flink() -> subprocess.Popen[str]:
    half_mb, cores = psutil.virtual_memory().total // 2**21, os.cpu_count() or 1
    settings = [
        f"parallelism.default={cores}",
        f"taskmanager.numberOfTaskSlots={cores}",
        f"taskmanager.memory.managed.size={half_mb // 4}m",
        "taskmanager.memory.network.max=256m",
        "taskmanager.memory.network.min=256m",
    ]
    command = [*flink_command(half_mb), FLINK / "Statements.java", *settings]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _to_flink(statement: str) -> None:
    flink = _flink()
    assert flink.stdin is not None  # noqa: S101 - pipes were asked for
    assert flink.stdout is not None  # noqa: S101
    print(" ".join(statement.split()), file=flink.stdin, flush=True)
    if flink.stdout.readline() != "done\n":
        raise RuntimeError(f"Flink did not carry out: {statement}")


def _our_session() -> Any:  # noqa: ANN401 - a session of Spark
    from benchmarks.ours.pipeline import session

    return session()


def _spark_session() -> Any:  # noqa: ANN401 - a session of Spark
    from benchmarks.peers.local_spark import session

    return session()


ENGINES = {
    "muntin": Engine("Muntin", lambda: None, in_process),
    "muntin-spark": Engine("Muntin on Spark", _our_session, on_spark),
    "duckdb": Engine("DuckDB", lambda: None, with_duckdb),
    "polars": Engine("Polars", lambda: None, with_polars),
    "spark": Engine("Spark SQL", _spark_session, with_spark),
    "flink": Engine("Flink SQL", _flink, with_flink),
}


def has_flink() -> bool:
    """Whether Flink's jars are there; where they are not, and Maven is, Maven brings them."""
    if not FLINK_JARS.exists() and shutil.which("mvn"):
        command = ["mvn", "-q", "-B", "-f", FLINK / "pom.xml", "dependency:copy-dependencies", f"-DoutputDirectory={FLINK_JARS}"]
        subprocess.run(command, check=False)
    return FLINK_JARS.exists()


def main() -> None:
    """Run the jobs of an engine, tell the figures, and see that rows lie in the folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nexmark.engines", description=__doc__)
    parser.add_argument("engine", choices=[*ENGINES])
    parser.add_argument("query", choices=[*queries.QUERIES])
    parser.add_argument("--folder", type=Path, required=True, help="of the events")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    asked, found = parser.parse_args(), list[pa.Table | None]()
    engine = ENGINES[asked.engine]
    engine.start()
    for figures in timed(lambda: found.append(engine.job(asked.query, asked.folder, asked.out)), asked.jobs, asked.out):
        print(json.dumps(figures), flush=True)
        rows = found.pop()
    if rows is not None:
        import pyarrow.parquet as pq

        from benchmarks.nexmark.rows import as_others

        pq.write_table(as_others(rows), asked.out / ROWS)


if __name__ == "__main__":
    main()
