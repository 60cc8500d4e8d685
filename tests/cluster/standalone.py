"""A Spark standalone cluster from pip's pyspark: a master and workers, each a process on 127.0.0.1."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
from tenacity import retry, stop_after_delay, wait_fixed

from muntin.extensions.zygote import DAEMON
from tests.servers import free_port

SPARK_HOME = Path(pyspark.__file__).parent
CHECKOUT = Path(__file__).parents[2]


@dataclass
class Cluster:
    """A master, and its workers by number.

    Attributes:
        folder: for logs and the workers' files.
        port: of the master.
        python: what the workers run tasks by.
        checkout: what that Python imports Muntin from; empty if Muntin is installed there.
    """

    folder: Path
    port: int
    python: str = sys.executable
    checkout: str = str(CHECKOUT)
    connect_port: int = field(default_factory=free_port)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def connect(self) -> str:
        return f"sc://127.0.0.1:{self.connect_port}"

    @property
    def master(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start(self, name: str, *words: str, **more: str) -> None:
        """Start a program of Spark's, with a process group and a log of its own."""
        log = (self.folder / f"{name}.log").open("ab")
        settings = {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_HOME": str(SPARK_HOME),
            "PYSPARK_PYTHON": self.python,
            "PYTHONPATH": self.checkout,
        }
        command = [str(SPARK_HOME / "bin" / words[0]), *words[1:]]
        self.running[name] = subprocess.Popen(
            command, env=os.environ | settings | more, stdout=log, stderr=log, cwd=self.folder, start_new_session=True
        )

    def start_worker(self, name: str) -> None:
        """Start a worker of one core and one gigabyte, and wait until the master knows it."""
        kind = ("spark-class", "org.apache.spark.deploy.worker.Worker")
        place = ("--host", "127.0.0.1", "--port", str(free_port()), "--webui-port", str(free_port()), "--work-dir", str(self.folder / name))
        self.start(name, *kind, *place, "--cores", "1", "--memory", "1g", self.master)
        log = self.folder / f"{name}.log"
        eventually(lambda: "Successfully registered" in log.read_text(encoding="utf-8", errors="replace"), f"{name} registers, see {log}")

    def start_connect(self) -> None:
        """Start a Connect server on the cluster, and wait until it listens."""
        settings = {
            "spark.connect.grpc.binding.port": self.connect_port,
            "spark.executor.memory": "600m",
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.python.daemon.module": DAEMON,
        }
        conf = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        kind = ("spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", self.master)
        self.start("connect", *kind, *conf, "spark-internal", SPARK_DAEMON_MEMORY="1g")
        eventually(lambda: is_open(self.connect_port), f"Connect listens, see {self.folder}/connect.log", 180)

    def kill(self, name: str) -> None:
        """Kill a worker as `kill -9` does; the executors that it started lose it, and end."""
        found = self.running.pop(name)
        os.kill(found.pid, signal.SIGKILL)
        found.wait()

    def end(self, name: str) -> None:
        """End a program and what it started."""
        found = self.running.pop(name)
        os.killpg(found.pid, signal.SIGKILL)
        found.wait()

    def stop(self) -> None:
        """End every process."""
        for name in list(self.running):
            self.end(name)


@contextmanager
def standalone(folder: Path, *, workers: int, **more: str) -> Iterator[Cluster]:
    """A cluster that ends with the block; `more` is of `Cluster`."""
    cluster = Cluster(folder, free_port(), **more)
    try:
        kind = ("spark-class", "org.apache.spark.deploy.master.Master")
        cluster.start("master", *kind, "--host", "127.0.0.1", "--port", str(cluster.port), "--webui-port", str(free_port()))
        eventually(lambda: is_open(cluster.port), f"the master listens, see {folder}/master.log")
        for number in range(workers):
            cluster.start_worker(f"worker{number}")
        yield cluster
    finally:
        cluster.stop()


def is_open(port: int) -> bool:
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) == 0


def eventually(true: Callable[[], object], what: str, seconds: float = 90) -> None:
    """Wait until something is true."""

    @retry(stop=stop_after_delay(seconds), wait=wait_fixed(0.02), reraise=True)
    def inspect() -> None:
        assert true(), what

    inspect()
