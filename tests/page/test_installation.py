"""Which pipelines there are, and what becomes of files that change, break or go."""

import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from muntin.extensions.page.installation import Installation
from tests.page.conftest import client_of
from tests.page.sensors import Sensors


@pytest.fixture
def own(made: Sensors, tmp_path: Path) -> Sensors:
    shutil.copytree(made.folder, tmp_path / "own")
    return Sensors(tmp_path / "own")


def test_a_definition_is_read_again_when_its_file_changes(own: Sensors) -> None:
    client = client_of(own)
    assert ">two_hours<" in client.get("/pipeline/sensors/timeline").text
    own.file.write_text(own.file.read_text().replace('"two_hours"', '"2h"'))
    page = client.get("/pipeline/sensors/timeline").text
    assert (">two_hours<" in page, ">2h<" in page) == (False, True)


def test_a_file_that_cannot_be_run_is_told_without_its_error(own: Sensors) -> None:
    own.file.write_text("raise ValueError('postgresql://user:password@host')")
    client = client_of(own)
    page = client.get("/").text
    assert f"its file {own.file} cannot be run" in page
    assert f"muntin check {own.file}" in page
    assert "password" not in page
    assert client.get("/pipeline/sensors/timeline").status_code == 409


def test_a_state_without_a_file_is_told(own: Sensors) -> None:
    installation = Installation(dict, own.root, own.folder)
    assert [(known.name, known.pipeline) for known in installation.places().values()] == [("sensors", None)]


def test_a_pipeline_that_never_ran_is_told_and_needs_nobody(own: Sensors) -> None:
    shutil.rmtree(own.root)
    page = client_of(own).get("/").text
    assert "was never run" in page
    assert 'class="call"' not in page
    assert client_of(own).get("/pipeline/sensors/timeline").status_code == 409


def test_a_definition_that_has_changed_what_states_hold_is_to_be_rebuilt(own: Sensors) -> None:
    own.file.write_text(own.file.read_text().replace('"n": agg.count()', '"n": agg.count(), "most": agg.max("value")'))
    page = client_of(own).get("/").text
    assert "its definition has changed what states hold" in page
    assert f"muntin run --rebuild {own.file} --root {own.root}" in page


def test_the_root_that_a_dag_names_counts(own: Sensors) -> None:
    own.file.write_text(own.file.read_text().replace("airflow_dag(sensors)", 'airflow_dag(sensors, root="elsewhere")'))
    (known,) = Installation(lambda: {"sensors": own.file}, None, own.folder).places().values()
    assert known.root == own.folder / "elsewhere"


def test_nobody_s_page_is_empty(tmp_path: Path) -> None:
    client: TestClient = client_of(Sensors(tmp_path))
    assert "sensors" in client.get("/").text
