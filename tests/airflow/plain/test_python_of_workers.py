"""Which Python Spark's workers run, for the tasks of one process."""

import os
import sys
from collections.abc import Iterator

import pytest

from muntin.extensions.airflow import spark

NAMED = {"spark.pyspark.python": "/other/bin/python"}


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
    spark._of_the_environment.cache_clear()
    yield
    spark._of_the_environment.cache_clear()


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [("", [NAMED["spark.pyspark.python"], sys.executable]), ("/mine/python", [NAMED["spark.pyspark.python"], "/mine/python"])],
)
def test_a_connection_names_it_for_its_own_tasks_alone(environment: str, wanted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", environment)
    found = []
    for settings in (NAMED, {}, NAMED, {}):
        spark.use_python(settings)
        found.append(os.environ["PYSPARK_PYTHON"])
    assert found == wanted * 2
