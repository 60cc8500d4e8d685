"""Airflow: `airflow_names.py` looks at it in a process of its own, since importing it changes a process."""

import subprocess
import sys
from pathlib import Path

import pytest

from examples.demo.home import PROJECT, program_env

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.gx]


def test_airflow_has_the_names_that_are_used(tmp_path: Path) -> None:
    env = program_env() | {"AIRFLOW_HOME": str(tmp_path), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--tb=short",
        "-p",
        "no:cacheprovider",
        str(Path(__file__).with_name("airflow_names.py")),
    ]
    done = subprocess.run(command, env=env, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
