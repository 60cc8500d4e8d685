"""Schedules on the clock of a zone beside Airflow's timetables, in a process of its own."""

from pathlib import Path

import pytest

from tests.airflow.own_process import run_inside


@pytest.mark.timeout(600)
def test_local_timetables(tmp_path: Path) -> None:
    run_inside(tmp_path, "test_local_timetables.py")
