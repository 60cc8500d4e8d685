"""A project may have folders named `pipelines` of its own: in `dags/`, and beside it. Commands and workers of Spark import from them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILE = """
from datetime import UTC, datetime

from pipelines.counted import counted, finished

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

flow = Pipeline(
    name="flow",
    source=sources.files("data/{start:%Y-%m-%d}.csv", event_time="at"),
    schedule="@daily",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    windows={"day": windows.tumbling("1d")},
    aggregates={"n": agg.own("n", "x", create=int, accumulate=counted, combine=lambda a, b: a + b, finish=finished)},
)
"""
COUNTED = """
def counted(n, x):
    return n + 1


def finished(n):
    return float(n)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("dags/pipelines", "pipelines", "data"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("dags/pipelines", "pipelines"):
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "dags/pipelines/counted.py").write_text(COUNTED)
    (tmp_path / "pipelines/of_another_team.py").write_text("raise AssertionError('imported by nobody')\n")
    (tmp_path / "dags/flow.py").write_text(FILE)
    (tmp_path / "data/2024-01-01.csv").write_text("at,x\n2024-01-01T01:00:00Z,1\n2024-01-01T02:00:00Z,2\n")
    return tmp_path


# the command, installed by its own name, in the project's folder: neither folder hides the product, nor is hidden by it
@pytest.mark.parametrize("more", [(), pytest.param(("--spark", "local[1]"), marks=pytest.mark.spark)])
def test_they_work(project: Path, more: tuple[str, ...]) -> None:
    program = str(Path(sys.executable).with_name("muntin"))
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MUNTIN_HOME", "MUNTIN_ROOT")}
    range_ = ("--start", "2024-01-01", "--end", "2024-01-02")
    done = subprocess.run(
        [program, "run", "dags/flow.py", *range_, *more], cwd=project, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    where = "on Spark (local[1])" if more else "in this process"
    assert done.stderr.startswith(f"flow: tasks run {where}")
    shown = subprocess.run([program, "show", "dags/flow.py", "day"], cwd=project, env=env, capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[1].split() == ["2024-01-01", "00:00", "2024-01-02", "00:00", "2", "2024-01-01", "00:00"]
