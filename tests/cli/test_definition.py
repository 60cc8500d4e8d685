"""From a file to a pipeline."""

import sys
from pathlib import Path

import pytest

import muntin
from muntin.cli.place import load_pipeline
from muntin.errors import DefinitionError
from tests.cli.conftest import Project


def test_a_dag_file_is_read_without_its_dag(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "muntin.extensions.airflow.dag", None)  # importing it is an error now
    before = set(sys.modules)
    assert load_pipeline(Path(project.file)).name == "sensors"
    assert "airflow_dag" not in vars(muntin)
    assert not {name for name in set(sys.modules) - before if "sensors" in name}


def test_a_file_next_to_it_can_be_imported(tmp_path: Path):
    (tmp_path / "neighbour_of_the_definition.py").write_text("SIZE = '3h'\n")
    text = "from neighbour_of_the_definition import SIZE\nassert SIZE == '3h'\n"
    (tmp_path / "definition.py").write_text(text)
    with pytest.raises(DefinitionError, match="holds no Pipeline"):
        load_pipeline(tmp_path / "definition.py")


def two(project: Project) -> Path:
    file = Path(project.file)
    file.write_text(file.read_text() + "import dataclasses\nother = dataclasses.replace(sensors, name='other')\nsame = sensors\n")
    return file


def test_one_of_several_is_chosen_by_name(project: Project):
    assert load_pipeline(two(project), "other").name == "other"


def test_several_need_a_name(project: Project):
    with pytest.raises(DefinitionError, match=r"holds other, sensors; say which with --pipeline NAME"):
        load_pipeline(two(project))


def test_a_name_that_is_not_there(project: Project):
    with pytest.raises(DefinitionError, match="holds sensors; there is no 'x'"):
        load_pipeline(Path(project.file), "x")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ny = = 2\n", "line 2: SyntaxError"),
        ("x = 1\n\nimport nothing_of_that_name\n", "line 3: ModuleNotFoundError: No module named"),
        ("from muntin import windows\nwindows.sliding('6h', step='4h')\n", "line 2: size must be a whole number of steps"),
        ("raise SystemExit('no')\n", "line 1: SystemExit: no"),
    ],
)
def test_an_error_in_the_file_is_told_with_its_line(tmp_path: Path, text: str, told: str):
    file = tmp_path / "wrong.py"
    file.write_text(text)
    with pytest.raises(DefinitionError, match=r"wrong\.py") as raised:
        load_pipeline(file)
    assert told in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(DefinitionError, match="there is no file"):
        load_pipeline(tmp_path / "absent.py")
