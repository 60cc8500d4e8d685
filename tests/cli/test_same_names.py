"""A name is that of one pipeline: in a file, in a folder of DAGs, and with its upstream. Files are read, not run."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.cli.place import load_pipeline
from muntin.errors import DefinitionError
from muntin.extensions.page.commands.ui import local_page
from muntin.jobs.state.same_names import check_alone
from muntin.testing import pipeline_of
from tests.cli.conftest import RANGE, Muntin

HEAD = """
from dataclasses import replace
from datetime import UTC, datetime
import muntin
from muntin import Pipeline, Renamed, airflow_dag, sources, windows
from muntin import aggregates as agg

def made(name, window="day"):
    return Pipeline(name=name, source=sources.files("d/{start:%Y-%m-%d}.csv", event_time="at"), schedule="@daily",
        start=datetime(2024, 5, 1, tzinfo=UTC), windows={window: windows.tumbling("1d")}, aggregates={"n": agg.count()})
"""
WHOLE = """
from muntin import Pipeline, sources, windows, aggregates as agg
from datetime import UTC, datetime
p = Pipeline(name="p", source=sources.files("d/{start:%Y-%m-%d}.csv", event_time="at"), schedule="@daily",
    start=datetime(2024, 5, 1, tzinfo=UTC), windows={"day": windows.tumbling("1d")}, aggregates={"n": agg.count()})
"""


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "first, second = made('p'), made('p', 'hour')",
        "first, second = made('p'), made('P', 'hour')",
        "first = made('p')\nsecond = replace(first, description='another')",
        "for window in ('day', 'hour'):\n    airflow_dag(made('p', window))",
        "airflow_dag(made('p'))\nsecond = made('p', 'hour')",
        "p = made('p')\np_dag = airflow_dag(p)\np = made('p', 'hour')",
    ],
)
def test_two_of_one_name_in_a_file_are_refused(text: str, tmp_path: Path, muntin: Muntin) -> None:
    file = written(tmp_path / "p.py", HEAD + text)
    for load in (load_pipeline, pipeline_of):
        with pytest.raises(DefinitionError, match="defines two pipelines of the name 'p'.*another name" if "'P'" not in text else "'P'"):
            load(file)
    for command in (("run", *RANGE), ("check",)):
        assert muntin(command[0], str(file), *command[1:], "--root", str(tmp_path / "state")).status == 2
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    "text",
    [
        "first = made('p')\nsecond = first",
        "first, second = made('p'), made('p')",
        "first = made('q')\nfirst = made('p')",
        "first = made('p')\nairflow_dag(first)",
    ],
)
def test_one_pipeline_may_have_several_names_in_python(text: str, tmp_path: Path) -> None:
    assert load_pipeline(written(tmp_path / "p.py", HEAD + text)).name == "p"


def test_the_earlier_name_of_another_is_taken(tmp_path: Path) -> None:
    file = written(tmp_path / "p.py", HEAD + "first = made('p')\nsecond = replace(made('q'), renamed=Renamed(pipeline='p'))")
    with pytest.raises(DefinitionError, match="renamed= of 'q': 'p' is a pipeline of this file"):
        load_pipeline(file, "q")


@pytest.mark.parametrize("other", ["dags/b.py", "dags/team/b.py", "dags/team/deeper/b.py"])
def test_two_of_one_name_in_a_folder_of_dags_are_refused(other: str, tmp_path: Path, muntin: Muntin) -> None:
    first, second = written(tmp_path / "dags/a.py", WHOLE), written(tmp_path / other, WHOLE.replace('"1d"', '"1h"').replace("p = ", "q = "))
    for file in (first, second):
        for command in (("run", *RANGE), ("check",)) if file is first else (("promote",),):
            told = muntin(command[0], str(file), *command[1:], "--root", str(tmp_path / "state"))
            assert (told.status, str(first) in told.err, str(second) in told.err) == (2, True, True)
    assert not (tmp_path / "state").exists()
    assert muntin("status", str(first), "--root", str(tmp_path / "state")).status == 0  # reading compares: diff --against
    with pytest.raises(DefinitionError, match="each define a pipeline of the name 'p'"):
        local_page([first, second], None, "token", 0)


@pytest.mark.parametrize("call", ["Pipeline('p',", "NAME = 'P'\np = Pipeline(NAME,", "NAME = 'P'\np = Pipeline(name=NAME,"])
def test_so_is_a_name_that_stands_first_or_in_a_variable(call: str, tmp_path: Path) -> None:
    file, other = written(tmp_path / "dags/a.py", WHOLE), WHOLE.replace('p = Pipeline(name="p",', call if "p = " in call else f"p = {call}")
    assert other != WHOLE
    written(tmp_path / "dags/b.py", other)
    with pytest.raises(DefinitionError, match="each define a pipeline of the name 'p'"):
        check_alone(file, "p")


FACTORY = HEAD.replace('"day"', '"hour"')


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "p = made('p')",
        HEAD + "for team in ('o', 'p'):\n    airflow_dag(made(team))",
        WHOLE.replace('"p"', 'f"{chr(112)}"').replace('"1d"', '"1h"'),
        "from factory import made\nfrom muntin import airflow_dag\ndag = airflow_dag(made('P'))",
    ],
)
def test_so_is_a_name_that_a_file_computes(text: str, tmp_path: Path) -> None:
    file = written(tmp_path / "dags/a.py", WHOLE)
    written(tmp_path / "dags/factory.py", FACTORY)
    other = written(tmp_path / "dags/b.py", text.replace('"day"', '"hour"'))
    with pytest.raises(DefinitionError, match=f"{other} each define a pipeline of the name 'p'"):
        check_alone(file, "p")


def test_a_file_that_computes_another_name_or_has_the_pipeline_as_its_upstream_is_no_other(tmp_path: Path) -> None:
    file = written(tmp_path / "dags/upstream_of_p.py", WHOLE)
    over = "q = replace(made(p.name * 2), source=sources.windows(p, 'day'))\nairflow_dag(q)"
    written(tmp_path / "dags/over.py", f"{HEAD}from upstream_of_p import p\n{over}")
    written(tmp_path / "dags/same.py", f"{HEAD}from upstream_of_p import p\nq = made(p.name + 'p')")
    written(tmp_path / "dags/broken.py", HEAD + "made('p').gone")
    check_alone(file, "p")


def test_a_folder_of_dags_may_hold_whatever_else(tmp_path: Path) -> None:
    file = written(tmp_path / "dags/p.py", WHOLE)
    written(tmp_path / "dags/broken.py", 'Pipeline(name="p"')
    written(
        tmp_path / "dags/other.py", 'dict(name="p")\n# Pipeline(name="p")\n"Pipeline(name=\\"p\\")"\nPipeline(name="pp", windows={"p": 1})'
    )
    written(tmp_path / "dags/runs.py", "raise AssertionError('a file that is only read')\nPipeline(name='q')")
    written(tmp_path / "elsewhere/p.py", WHOLE)
    (tmp_path / "dags/link.py").symlink_to(file)
    written(tmp_path / "dags/.worktrees/4f2a/dags/p.py", WHOLE)
    check_alone(file, "p")
    check_alone(tmp_path / "elsewhere/p.py", "p")


@pytest.mark.parametrize("module", ["definitions", "team.definitions"])
def test_a_dag_may_have_its_pipeline_from_another_file(module: str, tmp_path: Path) -> None:
    """In a process of its own, as a command has: what it imports stays imported."""
    written(tmp_path / f"dags/{module.replace('.', '/')}.py", WHOLE)
    file = written(tmp_path / "dags/of_p.py", f"from muntin import airflow_dag\nfrom {module} import p\ndag = airflow_dag(p)")
    command = [sys.executable, "-m", "muntin", "run", file, "--start", "2024-05-01", "--end", "2024-05-02", "--root", tmp_path / "state"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, b"no file at" in done.stderr) == (3, True), done.stderr
    second = written(tmp_path / "dags/second.py", WHOLE)
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, f"{file} and {second} each define".encode() in done.stderr) == (2, True), done.stderr


def test_an_upstream_has_a_name_of_its_own() -> None:
    same = {"schedule": "@daily", "start": datetime(2024, 5, 1, tzinfo=UTC), "aggregates": {"n": agg.count()}}
    up = Pipeline(
        name="p", source=sources.files("d/{start:%Y-%m-%d}.csv", event_time="at"), windows={"day": windows.tumbling("1d")}, **same
    )
    over = replace(up, name="q", source=sources.windows(up, "day"))
    assert over.name == "q"
    with pytest.raises(DefinitionError, match="'P' is the name of the upstream"):
        replace(over, name="P")
