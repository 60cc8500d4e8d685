"""`python -m benchmarks.elsewhere`: W1 of events that do not lie on this disk, each beside files, and beside Spark alone.

Windows are compared with the reference first. A job is a run into an empty state, the second of a process with a warm session; the
servers run on the same machine and take their share of it. A server that is not there, as `make test` fetches them, is left out.
`--cluster`: the same on a standalone cluster of two workers of a core and a gigabyte each, with files on this disk.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console

from benchmarks import report
from benchmarks.comparison import differences
from benchmarks.contestant import cpu_s
from benchmarks.events import event_files
from benchmarks.ours.hour import JOB
from benchmarks.ours.pipeline import WINDOW, session
from benchmarks.peers import spark_range
from benchmarks.reference import reference
from benchmarks.workloads import EPOCH, SLIDING
from muntin import read, run, sources
from muntin.files.paths import path_of
from tests import kafka_broker, object_store
from tests.cluster import driver
from tests.cluster.standalone import standalone

HERE = Path(__file__).parent
COLUMNS = {"key": "INTEGER", "t": "BIGINT", "a": "BIGINT", "b": "DOUBLE"}
PARTITIONS = 4
Job = Callable[[Path], pa.Table]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the events are, and what makes windows of them, below an empty folder."""

    title: str
    job: Job


def ours(files: list[Path], *, root: str = "", **changes: Any) -> Job:  # noqa: ANN401 - of a definition
    """Muntin, with what is other in the definition. `root`: of the state; below the folder unless said."""

    def job(out: Path) -> pa.Table:
        definition, state = replace(JOB.pipeline(files), **changes), f"{root or out}/{time.time_ns()}"
        run(definition, root=state, start=EPOCH, end=EPOCH + JOB.schedule, spark=session())
        return read(definition, WINDOW, root=state)

    return job


def by_spark(files: list[Path]) -> Job:
    """Spark alone."""

    def job(out: Path) -> pa.Table:
        spark_range.write_windows(files, out / "windows")
        return pq.read_table(out / "windows")

    return job


@contextmanager
def in_bucket(files: list[Path], folder: Path) -> Iterator[list[Place]]:
    """The state in an object store, and the events too."""
    with object_store.started(folder) as server:
        os.environ |= server.environment
        bucket = server.new_bucket()
        for file in files:
            path_of(f"{bucket}/events/{file.name}").write_bytes(file.read_bytes())
        source = sources.files(f"{bucket}/events/*.parquet", event_time="t", all_files=True)
        state = f"{bucket}/state"
        yield [
            Place("Muntin, state on S3, events on this disk", ours(files, root=state)),
            Place("Muntin, events and state on S3", ours(files, root=state, source=source)),
        ]


@contextmanager
def in_topic(files: list[Path], folder: Path) -> Iterator[Place]:
    """Events as messages of JSON, in partitions by key."""
    from confluent_kafka import Producer

    with kafka_broker.started(folder) as broker:
        topic = broker.topic(PARTITIONS)
        producer = Producer({"bootstrap.servers": broker.address, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
        at_ms = int(EPOCH.timestamp() * 1000)
        for file in files:
            table = pq.read_table(file)
            table = table.set_column(table.column_names.index("t"), "t", table["t"].cast(pa.int64()))
            for key, t, a, b in zip(*(table[name].to_pylist() for name in COLUMNS), strict=True):
                value = f'{{"key":{key},"t":{t},"a":{a},"b":{b!r}}}'
                while True:
                    try:
                        producer.produce(topic, value, partition=key % PARTITIONS, timestamp=at_ms)
                        break
                    except BufferError:
                        producer.poll(1)
        producer.flush()
        source = sources.kafka(broker.address, topic, value="json", columns=COLUMNS, event_time=sources.at("t", unit="us"))
        yield Place("Muntin, JSON messages of Kafka", ours(files, source=source))


def read_files(files: list[Path]) -> Callable[[SparkSession, datetime, datetime], DataFrame]:
    """What `sources.spark` asks for rows."""
    paths = list(map(str, files))
    return lambda spark, _start, _end: spark.read.parquet(*paths)


@contextmanager
def places(files: list[Path], folder: Path, wanted: Mapping[str, bool]) -> Iterator[list[Place]]:
    """Everywhere that events are read from."""
    found = [
        Place("Muntin, files on this disk", ours(files)),
        Place("Spark alone, files on this disk", by_spark(files)),
        Place("Muntin, through sources.spark", ours(files, source=sources.spark(read_files(files), event_time="t"))),
    ]
    with ExitStack() as servers:
        if object_store.BINARY.exists() and wanted["s3"]:
            found.extend(servers.enter_context(in_bucket(files, _made(folder / "buckets"))))
        if (kafka_broker.JARS / "whole").exists() and wanted["kafka"]:
            found.append(servers.enter_context(in_topic(files, _made(folder / "kafka"))))
        yield found


@contextmanager
def on_a_cluster(folder: Path) -> Iterator[None]:
    """All jobs run on a cluster, as its session is the session of the process."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with standalone(folder, workers=2) as cluster:
        begun = driver.session(cluster.master)
        yield
        begun.stop()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def timed(place: Place, folder: Path, runs: int, expected: Any) -> list[tuple[float, float]]:  # noqa: ANN401 - columns of numpy
    """Seconds, and CPU seconds without those of servers, of each run but the first, whose windows are compared.

    Raises:
        SystemExit: the windows are wrong.
    """
    figures = []
    for number in range(runs + 1):
        out = _made(folder / "out")
        begun, used = time.perf_counter(), cpu_s()
        found = place.job(out)
        figures.append((time.perf_counter() - begun, cpu_s() - used))
        shutil.rmtree(out)
        if number == 0 and (wrong := differences(found, expected)):
            raise SystemExit(f"{place.title}: {'; '.join(wrong)}")
    return figures[1:]


def main() -> None:
    """Run what was asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.elsewhere", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the keys, and so of the events (1: 10 million)")
    parser.add_argument("--runs", type=int, default=3, help="timed runs of each place (3)")
    parser.add_argument("--without", nargs="*", default=[], choices=["s3", "kafka"], help="servers that are left out")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="where events are kept (benchmarks/data)")
    parser.add_argument("--cluster", action="store_true", help="on a standalone cluster of two workers, without servers")
    asked = parser.parse_args()
    work = SLIDING.scaled(asked.scale)
    files = event_files(work, asked.data)
    expected, lines = reference(work, files), []
    wanted = {server: server not in asked.without and not asked.cluster for server in ("s3", "kafka")}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as around:
        if asked.cluster:
            around.enter_context(on_a_cluster(_made(Path(folder) / "cluster")))
        found = around.enter_context(places(files, Path(folder), wanted))
        session(computes=True)
        for place in found:
            figures = sorted(timed(place, Path(folder), asked.runs, expected))
            seconds, used = figures[len(figures) // 2]
            first = lines[0][1] if lines else f"{seconds:.2f}"
            lines.append([place.title, f"{seconds:.2f}", f"{used:.1f}", f"{seconds / float(first):.2f}"])
    where = ", on a cluster of two workers" if asked.cluster else ""
    report.show(f"W1, {work.events:,} events{where}", ["where the events are", "job s", "CPU s", "to files"], lines, Console(width=120))


if __name__ == "__main__":
    main()
