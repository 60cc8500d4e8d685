"""Tasks with a Spark session of their own, in a process of their own."""

from pathlib import Path

import pytest

from tests.airflow.own_process import run_inside


@pytest.mark.timeout(1600)
def test_local(tmp_path: Path) -> None:
    run_inside(tmp_path, "test_local.py", "test_function.py")


@pytest.mark.timeout(1600)
def test_worker(tmp_path: Path) -> None:
    run_inside(tmp_path, "test_worker.py")
