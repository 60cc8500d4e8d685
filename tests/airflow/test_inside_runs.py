"""Runs of a DAG: these files share a Spark server, compiled kernels and a process of their own."""

from pathlib import Path

import pytest

from tests.airflow.own_process import run_inside


@pytest.mark.timeout(1600)
def test_runs(tmp_path: Path) -> None:
    run_inside(tmp_path, "test_runs.py", "test_runs_reported.py", "test_runs_metrics.py", "test_runs_sinks.py", "test_waiting.py")
