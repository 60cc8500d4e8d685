"""The DAG of a pipeline, as Airflow reads it, in a process of its own."""

from pathlib import Path

import pytest

from tests.airflow.own_process import INSIDE, run_inside


@pytest.mark.timeout(1600)
def test_dag(tmp_path: Path) -> None:
    run_inside(tmp_path, "test_dag.py", "test_among_tasks.py", "test_forget_dag.py", "test_question.py")


def test_no_file_is_forgotten() -> None:
    told = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_inside_*.py"))
    assert [file.name for file in INSIDE.glob("test_*.py") if f'"{file.name}"' not in told] == []
