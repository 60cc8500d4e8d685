"""Airflow as people have it, with users and passwords, over a published week."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from examples.demo.database import database, migrate
from examples.demo.home import Home, make_home
from examples.demo.servers import Airflow, scheduling, spark, until_spark
from tests.airflow.page.week import publish_week, write_week

collect_ignore = ["some_dags.py"]  # Airflow imports it; to look there for doctests would import Airflow into every process of tests
USERS = {"admin": "admin", "viewer": "viewer", "half": "viewer", "keeper": "viewer", "nobody": ""}
HUSH = "hush-4711"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The published week's project, its state, and five users."""
    folder = tmp_path_factory.mktemp("page")
    project = write_week(folder / "project")
    publish_week(project, folder / "state")
    passwords = folder / "home/passwords.json"
    passwords.parent.mkdir()
    passwords.write_text(json.dumps({user: f"{user}-password" for user in USERS}))
    made = make_home(folder / "home", state=folder / "state")
    settings = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(project / "dags"),
        "AIRFLOW__CORE__AUTH_MANAGER": "tests.airflow.page.some_dags.SomeDags",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{user}:{role}" for user, role in USERS.items()),
        "AIRFLOW_CONN_SHOP": json.dumps({"conn_type": "http", "host": "example.com", "login": "shop", "password": HUSH}),
        "MUNTIN_HOME": str(project),
    }
    return replace(made, env=made.env | settings)


@pytest.fixture(scope="module")
def airflow(home: Home) -> Iterator[Airflow]:
    with spark(home) as server, database(home) as postgres:
        migrate(home, postgres)
        until_spark(home, server)
        with scheduling(home, "shop", postgres, server) as running:
            yield running


@pytest.fixture
def project(home: Home) -> Path:
    return Path(home.env["MUNTIN_HOME"])
