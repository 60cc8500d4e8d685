"""The tests in `inside/`, each file in a process of its own with a private Airflow home; some files share one."""

import os
import subprocess
import sys
from pathlib import Path

from examples.demo.home import PROJECT, program_env
from tests.airflow.conftest import OWN_PROCESS

INSIDE = Path(__file__).parent / "inside"


def run_inside(tmp_path: Path, *files: str) -> None:
    """These files of tests, one after the other in one process."""
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
        *(str(INSIDE / file) for file in files),
    ]
    done = subprocess.run(command, env=env, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    assert os.environ.get("AIRFLOW_HOME") != str(tmp_path / "airflow")
