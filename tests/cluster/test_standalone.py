"""Workers of a standalone cluster: the windows are those of tasks in this process, also if workers are killed. Over Connect, too."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from muntin import read, run
from muntin.jobs.state.bound import bind
from tests.cluster.events import END, START, pipeline, write
from tests.cluster.standalone import CHECKOUT, Cluster, eventually, standalone
from tests.properties.equal_values import bitwise
from tests.storage.three_batches import HERE

ROWS = 20_000  # a file
pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source, and in `clean` the windows of tasks in this process."""
    made = tmp_path_factory.mktemp("cluster")
    write(made, ROWS)
    run(pipeline(made), root=made / "clean", start=START, end=END, spark=HERE)
    return made


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone(tmp_path_factory.mktemp("spark"), workers=3) as found:
        yield found


def driver(cluster: Cluster, address: str, folder: Path, root: str) -> subprocess.Popen[str]:
    settings = {"PYSPARK_PYTHON": cluster.python, "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": str(CHECKOUT)}
    words = [sys.executable, "-m", "tests.cluster.driver", address, str(folder), str(folder / root)]
    log = (cluster.folder / f"{root}.log").open("wb")
    return subprocess.Popen(words, env=os.environ | settings, stdout=subprocess.PIPE, stderr=log, text=True, cwd=cluster.folder)


def check(folder: Path, root: str) -> None:
    for name in pipeline(folder).windows:
        ours, clean = (read(pipeline(folder), name, root=folder / place, provisional=True) for place in (root, "clean"))
        assert len(clean) > 1000
        assert bitwise(ours, clean), name


def survives(cluster: Cluster, address: str, folder: Path, root: str, first: str, second: str) -> None:
    """A run that loses a worker while it reads, and another while it makes windows."""
    state = Path(bind(pipeline(folder), folder / root).folder)
    with driver(cluster, address, folder, root) as running:
        assert running.stdout
        assert running.stdout.readline() == "accumulate\n"
        eventually(lambda: any(state.glob("frames/*/*/*.parquet")), "a task of accumulate has written")
        cluster.kill(first)
        assert running.stdout.readline() == "finalize\n"
        eventually(lambda: any(state.glob("staging/*/**/*.parquet")), "a task of finalize has written")
        cluster.kill(second)
        assert running.stdout.readlines() == ["publish\n", f"rows {ROWS * 12}\n"]
        assert running.wait() == 0
    check(folder, root)


# accumulate   worker0 x          the others go on
# finalize     worker1 x          worker2 alone goes on
def test_a_run_outlives_its_workers(cluster: Cluster, folder: Path) -> None:
    survives(cluster, cluster.master, folder, "killed", "worker0", "worker1")


# worker2 and two new ones, which are killed in turn
@pytest.mark.skipif("MUNTIN_CLUSTER" not in os.environ, reason="make cluster-test runs it: a minute")
def test_a_run_over_connect_outlives_its_workers(cluster: Cluster, folder: Path) -> None:
    for name in ("worker3", "worker4"):
        cluster.start_worker(name)
    cluster.start_connect()
    survives(cluster, cluster.connect, folder, "connect", "worker3", "worker4")
