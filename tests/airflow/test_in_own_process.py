"""The tests in `inside/`, each file in a process of its own with a private Airflow home; some files share one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from examples.demo.home import PROJECT, program_env
from tests.airflow.conftest import OWN_PROCESS

INSIDE = Path(__file__).parent / "inside"
WITH = {"test_runs.py": ["test_runs_told.py", "test_runs_metrics.py", "test_runs_sinks.py"]}
"""A file and those that need the same Spark server and the same compiled kernels."""
FIRST = {path.name for path in INSIDE.glob("test_*.py")} - {name for others in WITH.values() for name in others}


@pytest.mark.timeout(1600)
@pytest.mark.parametrize("file", sorted(FIRST))
def test_inside(file: str, tmp_path: Path):
    env = program_env() | {
        OWN_PROCESS: "1",
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "project/dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "MUNTIN_TEST_PROJECT": str(tmp_path / "project"),
    }
    env = {key: value for key, value in env.items() if key not in ("MUNTIN_HOME", "MUNTIN_ROOT", "SPARK_REMOTE")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "--tb=short",
        "--show-capture=log",
        "-p",
        "no:cacheprovider",
        *(str(INSIDE / name) for name in (file, *WITH.get(file, []))),
    ]
    done = subprocess.run(command, env=env, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    assert os.environ.get("AIRFLOW_HOME") != str(tmp_path / "airflow")
