"""What is not installed is told with the extra that brings it; what needs none of it works. Imports are blocked, nothing is removed."""

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from muntin.definition.extras import EXTRAS
from tests.cli.conftest import RANGE, UNTIL, Project

ROOT = Path(__file__).parents[2]
BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
from muntin.cli.main import main
sys.exit(next(filter(None, map(main, {commands!r})), 0))
"""
"""Commands, up to the first that fails."""
EVERYTHING = ("pyspark", "airflow", "great_expectations", "matplotlib", "pandas", "scipy")


def muntin(project: Project, *commands: tuple[str, ...], blocked: tuple[str, ...] = EVERYTHING) -> subprocess.CompletedProcess[str]:
    words = BLOCKED.format(blocked=blocked, commands=[project.arguments(*command) for command in commands])
    return subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)


def test_runs_and_looks_need_no_extra(project: Project) -> None:
    done = muntin(project, ("check",), ("plan", *RANGE), ("status",), ("plan", *UNTIL), ("run", *UNTIL))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "blocked", "extra"),
    [
        (("run", *RANGE, "--spark", "sc://127.0.0.1:1"), "pyspark", "spark"),
        (("show", "--plot", "quarter", "total"), "matplotlib", "plot"),
    ],
)
def test_what_is_missing_says_which_extra(project: Project, command: tuple[str, ...], blocked: str, extra: str) -> None:
    done = muntin(project, command, blocked=(blocked,))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"error (installation): {blocked} is not installed: pip install 'muntin[{extra}]'"


def test_a_suite_needs_great_expectations_before_spark_starts(project: Project) -> None:
    (project.folder / "suite.json").write_text('{"expectations": [{"type": "expect_table_row_count_to_equal", "kwargs": {"value": 1}}]}')
    project.define(**{'keys=["sensor"],': f'keys=["sensor"], expectations={{"quarter": "{project.folder}/suite.json"}},'})
    done = muntin(project, ("run", *RANGE), blocked=("great_expectations",))
    assert done.stderr.splitlines()[-1].endswith("great_expectations is not installed: pip install 'muntin[quality]'")


def test_a_dag_needs_airflow() -> None:
    words = BLOCKED.split("from muntin.cli", maxsplit=1)[0].format(blocked=("airflow",)) + "import muntin; muntin.airflow_dag(None)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith("airflow is not installed: pip install 'muntin[airflow]'")


def test_a_new_project_names_its_suite_where_something_can_judge_it(tmp_path: Path) -> None:
    line = '    expectations={"day": "expectations/day.json"},'
    for blocked, named in (("nothing",), True), (("great_expectations",), False):
        folder = tmp_path / "-".join(blocked)
        words = BLOCKED.format(blocked=blocked, commands=[["new", str(folder)]])
        done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
        lines = (folder / "dags/sales.py").read_text(encoding="utf-8").splitlines()
        assert (line in lines) == named
        assert (f"    # {line.strip()}  # pip install 'muntin[quality]', then take the first # away" in lines) == (not named)
        assert ("dags/sales.py names its suite in a comment" in done.stdout) == (not named)


def test_every_extra_is_declared_with_what_it_is_asked_for() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    distributions = packages_distributions()
    for package, extra in EXTRAS.items():
        assert {*map(canonicalize_name, distributions[package])} & {Requirement(line).name for line in declared[extra]}, package


def test_the_entry_point_runs_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "muntin", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("muntin 0.")
