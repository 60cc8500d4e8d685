"""The Spark services of docker-compose.yml as processes: their checks pass, and a run over Connect gives what this process gives."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from muntin import read, run
from tests.cluster.events import END, START, pipeline, write
from tests.compose.compose_file import example_variables
from tests.compose.stack import Stack, stack
from tests.properties.equal_values import bitwise
from tests.security.test_spark_ports import SERVED, answers
from tests.storage.three_batches import HERE

ROWS = 500  # a file
pytestmark = [pytest.mark.spark, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with stack(tmp_path_factory.mktemp("compose"), example_variables()) as made:
        made.up("spark-master", "spark-worker", "spark-connect")
        yield made


def test_two_workers_are_known_to_the_master(running: Stack) -> None:
    assert [*running.containers] == ["spark-master", "spark-worker", "spark-worker-2", "spark-connect"]
    asked = "import json, urllib.request as u; print(json.load(u.urlopen('http://localhost:8081/json/'))['aliveworkers'])"
    assert running.run("spark-master", "python", "-c", asked).stdout == "2\n"


def test_no_port_of_the_cluster_serves_a_stranger(running: Stack) -> None:
    for name in ("spark-master", "spark-worker", "spark-worker-2", "spark-connect"):
        given = answers(psutil.Process(running.containers[name].process.pid))
        assert not [answer for answer in given if any(served in answer for served in SERVED)]
        assert any(b"Expected SaslMessage" in answer for answer in given)


def test_a_run_over_connect_is_that_of_this_process(running: Stack, tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    run(pipeline(tmp_path), root=tmp_path / "clean", start=START, end=END, spark=HERE)
    words = [sys.executable, "-m", "tests.cluster.driver", running.places.here("sc://localhost:15002", ""), str(tmp_path)]
    done = subprocess.run([*words, str(tmp_path / "root")], env=os.environ, capture_output=True, text=True, check=False)
    assert done.stdout.endswith(f"rows {ROWS * 12}\n"), done.stderr[-2000:] + running.log("spark-connect")
    for name in pipeline(tmp_path).windows:
        ours, clean = (read(pipeline(tmp_path), name, root=tmp_path / place, provisional=True) for place in ("root", "clean"))
        assert len(clean) > 1000
        assert bitwise(ours, clean), name
