"""A standalone worker of one core for `benchmarks.memory`, and what its processes take together."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import psutil
from pyspark.sql import SparkSession

from muntin.extensions.zygote import DAEMON
from tests.cluster.standalone import Cluster, standalone

SMALL = {
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -Xms64m -XX:TieredStopAtLevel=1 -XX:MaxMetaspaceSize=160m",
}
"""As docs/operating/deploy.md has them. Spark starts no executor with less than 450 MB of heap; SerialGC hides a part of it."""
_EVERY_S = 0.05


@contextmanager
def a_worker(folder: Path, cgroup: Path | None = None) -> Iterator[tuple[Cluster, SparkSession]]:
    """A cluster of one worker, and a session on it whose tasks give memory back.

    Args:
        folder: empty, for logs.
        cgroup: of the kernel, with a limit of memory: the worker and all it starts are put there before it starts an executor.
    """
    with standalone(folder, workers=1) as cluster:
        if cgroup:
            (cgroup / "cgroup.procs").write_text(str(cluster.running["worker0"].pid), encoding="ascii")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        settings = {
            **SMALL,
            "spark.executorEnv.MUNTIN_KEEP_MEMORY": "off",
            "spark.python.daemon.module": DAEMON,
            "spark.ui.enabled": "false",
            "spark.log.level": "ERROR",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
        }
        session = SparkSession.builder.master(cluster.master).appName("memory").config(map=settings).getOrCreate()
        try:
            yield cluster, session
        finally:
            session.stop()


def executors(cluster: Cluster) -> list[psutil.Process]:
    """The executors of the worker, and what runs below them."""
    below = psutil.Process(cluster.running["worker0"].pid).children(recursive=True)
    found = [each for each in below if "CoarseGrainedExecutorBackend" in " ".join(_command(each))]
    return [*found, *(child for each in found for child in each.children(recursive=True))]


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return process.cmdline()
    return []


class Together(Thread):
    """Looks again and again at what an executor and its tasks take. What processes share counts once.

    Attributes:
        most_mb: the largest sum.
    """

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(daemon=True)
        self.cluster, self.most_mb, self.ended = cluster, 0.0, Event()

    def run(self) -> None:
        """Until `ended`."""
        while not self.ended.wait(_EVERY_S):
            with suppress(psutil.Error):
                self.most_mb = max(self.most_mb, sum(map(proportional_mb, executors(self.cluster))))


def proportional_mb(process: psutil.Process) -> float:
    """The memory of a process, of what it shares with others its share; 0 of one that is gone."""
    with suppress(OSError):
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii")
        return int(text.partition("\nPss:")[2].split()[0]) / 1024
    return 0
