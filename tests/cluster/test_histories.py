"""A year of flights, W1 and the judges' histories: over Connect on a cluster of two workers as on `local[2]`, to the last bit."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from muntin import read
from tests.cluster import histories
from tests.cluster.standalone import CHECKOUT, Cluster, standalone
from tests.properties.equal_values import bitwise

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(900),
    pytest.mark.skipif("MUNTIN_CLUSTER" not in os.environ, reason="make cluster-test runs it: two minutes"),
]
NAMES = ["flights", "W1", *(f"judge{seed}" for seed in histories.SEEDS)]


def ran(address: str, folder: Path, root: str) -> list[str]:
    """The histories of which a process tells, each with the number of rows that it read."""
    settings = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": str(CHECKOUT)}
    words = [sys.executable, "-m", "tests.cluster.histories", address, str(folder), str(folder / root)]
    done = subprocess.run(words, env=os.environ | settings, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone(tmp_path_factory.mktemp("spark"), workers=2) as found:
        found.start_connect()
        yield found


@pytest.fixture(scope="module")
def folder(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the states of both: `local` and `connect`."""
    made = tmp_path_factory.mktemp("histories")
    local, connect = ran("local[2]", made, "local"), ran(cluster.connect, made, "connect")
    assert local == connect
    assert [line.split()[0] for line in local] == NAMES
    assert local[:2] == ["flights 328521", "W1 2000000"]
    return made


@pytest.mark.parametrize("name", NAMES)
def test_windows_are_the_same_to_the_last_bit(folder: Path, name: str) -> None:
    found = next(each for each in histories.histories(folder) if each.name == name).pipeline
    for window in found.windows:
        ours, local = (read(found, window, root=folder / root / name, provisional=True) for root in ("connect", "local"))
        assert len(local) > 0
        assert bitwise(ours, local), window
