"""One Airflow database and one project for a file of tests; state of its own for each test."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.airflow.project import write_project

if TYPE_CHECKING:
    from examples.demo.home import Home


@pytest.fixture(scope="session")
def project() -> Path:
    return write_project(Path(os.environ["MUNTIN_TEST_PROJECT"]))


@pytest.fixture(scope="session")
def dags(project: Path) -> dict[str, Any]:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import initdb

    initdb()
    bag = DagBag(dag_folder=str(project / "dags"))
    assert bag.import_errors == {}
    return bag.dags


@pytest.fixture
def root(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh state, and the project's data as it was."""
    write_project(project)
    monkeypatch.setenv("MUNTIN_ROOT", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def own_params(dags: dict[str, Any]) -> Iterator[None]:
    """Airflow keeps the parameters of a run in those of the DAG, as long as one process makes both."""
    holders = [dags["shop"], *dags["shop"].tasks]
    params = [holder.params.get_param(name) for holder in holders for name in holder.params]
    before = [param.value for param in params]
    yield
    for param, value in zip(params, before, strict=True):
        param.value = value


@pytest.fixture
def run_day(dags: dict[str, Any], root: Path) -> Callable[..., Any]:
    """Run the DAG for a day of January 2024, as `airflow dags test` does; the finished run."""

    def run(day: int, **options: Any) -> Any:
        return dags["shop"].test(logical_date=datetime(2024, 1, day + 1, tzinfo=UTC), **options)

    return run


def home_without_token(folder: Path) -> "Home":
    """The home of a Spark Connect server that asks for no token, for a process with many sessions one after the other.

    A session that Python collects while grpc asks for the token, in its own thread, waits in pyspark's `close` for that thread for ever.
    """
    from examples.demo.home import TOKEN, make_home

    home = make_home(folder, state=Path("unused"))
    del home.env[TOKEN]
    return home


@pytest.fixture(scope="session")
def spark_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Spark Connect server, and the connection that says where it is."""
    from examples.demo.servers import spark, until_spark

    home = home_without_token(tmp_path_factory.mktemp("spark"))
    with spark(home) as server, pytest.MonkeyPatch.context() as patch:
        until_spark(home, server)
        patch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", home.env["AIRFLOW_CONN_SPARK_DEFAULT"])
        yield
