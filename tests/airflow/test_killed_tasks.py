"""The short form of `make soak ARGS="--part airflow-kills"`."""

from pathlib import Path
from random import Random

import pytest

from tests.case_counts import at_length
from tests.soak.task_kills import tasks_killed


@at_length
@pytest.mark.timeout(1800)
def test_tasks_that_are_killed_are_tried_again_and_windows_equal_a_clean_run(tmp_path: Path) -> None:
    print(tasks_killed(tmp_path / "ground", Random(0), kills=2))
