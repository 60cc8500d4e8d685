"""Workers with a Python of their own, `pip install muntin[worker]`: no Airflow, no Great Expectations, no Spark; the same windows."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from muntin import read, run
from tests.cluster.events import END, START, pipeline, write
from tests.cluster.standalone import CHECKOUT, Cluster, standalone
from tests.installs.install import UV, Place
from tests.properties.equal_values import bitwise
from tests.storage.three_batches import HERE

ROWS = 2000  # a file
pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(600),
    pytest.mark.skipif("MUNTIN_CLUSTER" not in os.environ, reason="make cluster-test runs it: packages are installed, kernels compiled"),
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel and its extra `worker`, in the versions of requirements.txt."""
    place = Place(tmp_path_factory.mktemp("worker"))
    place.build()
    place.install("muntin[worker]")
    return place.environment


@pytest.fixture(scope="module")
def cluster(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone(tmp_path_factory.mktemp("spark"), workers=2, python=str(environment / "bin/python"), checkout="") as found:
        found.start_connect()
        yield found


def test_it_is_small(environment: Path) -> None:
    words = [UV, "pip", "list", "--quiet", "--format", "json", "--python", str(environment / "bin/python")]
    found = {each["name"] for each in json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)}
    assert found >= {"muntin", "duckdb", "numba", "obstore", "confluent-kafka"}
    assert not {name for name in found if re.match(r"(apache-)?airflow|great-expectations|pyspark|pandas|py4j|matplotlib|fastapi", name)}
    assert len(found) < 60


@pytest.mark.parametrize("way", ["connect", "classic"])
def test_a_run_gives_the_same_windows(cluster: Cluster, environment: Path, tmp_path: Path, way: str) -> None:
    write(tmp_path, ROWS)
    run(pipeline(tmp_path), root=tmp_path / "clean", start=START, end=END, spark=HERE)
    words = [sys.executable, "-m", "tests.cluster.driver", cluster.connect if way == "connect" else cluster.master]
    settings = {"PYSPARK_PYTHON": cluster.python, "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": str(CHECKOUT)}
    if way == "classic":
        cluster.end("connect")  # which holds every core
    done = subprocess.run(
        [*words, str(tmp_path), str(tmp_path / "root")],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.stdout.endswith(f"rows {ROWS * 12}\n"), done.stderr[-3000:]
    for name in pipeline(tmp_path).windows:
        ours, clean = (read(pipeline(tmp_path), name, root=tmp_path / place, provisional=True) for place in ("root", "clean"))
        assert len(clean) > 1000
        assert bitwise(ours, clean), name
    assert any(environment.glob("lib/*/site-packages/muntin/**/*.nbi"))  # its own kernels: no tasks ran by another Python
