"""Markers by what a test uses, set when tests are collected; and a guard that stops a test which uses what its markers do not say.

| marker | a test that |
| --- | --- |
| `spark` | asks for the fixture `spark`, also through another fixture, or runs a program that builds a session |
| `gx` | lies in `tests/quality`, or in a file that speaks of expectations |
| `airflow` | lies in `tests/airflow`; it may use all of them |
| `install` | imports `tests.installs`, to install the package with `uv` |
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.abc import MetaPathFinder
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = {"spark": "spark-submit", "airflow": "airflow", "install": "uv"}
PACKAGES = {"gx": "great_expectations", "airflow": "airflow"}
DESCRIPTIONS = {
    "spark": "starts Spark; set by the fixture `spark`",
    "gx": "runs Great Expectations; set by folder and fixture",
    "airflow": "runs Airflow; set by folder",
    "install": "installs the package; set by what its file imports",
}
COMPILES = "test_arrivals.py"
"""The file that needs most of numba's kernels. Begun first, it compiles them alone; files that are begun later find them."""
SECONDS = {
    "airflow/test_inside_runs.py": 340, "airflow/test_backfill.py": 260, "airflow/test_inside_local.py": 110,
    "airflow/test_inside_object_store.py": 110, "airflow/test_inside_dag.py": 30, "simulation/test_worlds.py": 200,
    "airflow/test_killed_tasks.py": 195, "judge/test_every_aggregate.py": 180, "airflow/test_follows.py": 155,
    "storage/test_crash_points.py": 140, "installs/test_every_install.py": 100, "installs/test_printed.py": 60,
    "cluster/test_standalone.py": 110,
    "end_to_end/test_types_that_widen.py": 100, "landing/test_duplicates_on_spark.py": 95, "landing/test_on_spark.py": 80,
    "cli/test_alerts.py": 80, "docs/test_site.py": 75, "judge/test_random_batches.py": 70, "storage/test_compaction.py": 70,
    "airflow/test_components.py": 70, "properties/test_arrival.py": 65, "page/test_in_airflow.py": 60, "quality/test_connect.py": 60,
    "compose/test_spark_services.py": 55, "end_to_end/test_sessions_share_python.py": 50, "soak/test_short.py": 50,
    "end_to_end/test_tasks.py": 50, "storage/test_object_store.py": 50, "docs/test_pictures.py": 45,
    "faults/test_36_worker_without_packages.py": 45, "storage/test_duplicates_in_batches.py": 40, "storage/test_retain.py": 40,
    "cli/test_interrupt.py": 35, "alerts/test_told_run.py": 35, "cli/test_explain.py": 35, "properties/test_bundles.py": 30,
}  # fmt: skip
"""About how long files, each named with its folder, take in `make test` on two cores. What is not here takes `OTHERS`."""
OTHERS = 10
WORKERS_WITHOUT_AIRFLOW = 3
WORDS = {
    "spark": "starts Spark: ask for the fixture `spark`",
    "gx": "imports Great Expectations: put it into tests/quality, or say `expectations` in a test that asks for the fixture `spark`",
    "airflow": "uses Airflow: put it into tests/airflow",
    "install": "installs packages: use tests.installs",
}


def markers_of(item: pytest.Item) -> set[str]:
    """What a test uses."""
    fixtures = set(getattr(item, "fixturenames", ()))
    return said_by_file(item.path) | ({"spark"} if "spark" in fixtures else set())


@cache
def said_by_file(path: Path) -> set[str]:
    """What all tests of a file use."""
    text = path.read_text(encoding="utf-8") if path.suffix == ".py" else ""
    folders = path.parts
    found = {"spark"} if "SparkSession.builder" in text else set()
    if "quality" in folders or re.search(r"expectations|muntin\.quality", text):
        found.add("gx")
    if "tests.installs" in text:
        found.add("install")
    return set(DESCRIPTIONS) if "airflow" in folders and "tests" in folders else found


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    for name, says in DESCRIPTIONS.items():
        config.addinivalue_line("markers", f"{name}: {says}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set the markers; where several processes share the tests, the longest come first."""
    for item in items:
        for name in markers_of(item):
            item.add_marker(name)
    if hasattr(config, "workerinput"):
        items[:] = spread(items)


def spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """The same tests, the file that compiles kernels first, then the longest files, so that no process is left alone with one at the end.

    Tests that wait for Airflow leave the processor idle: of their files one is begun whenever the others have had enough for the
    other processes to do beside it.
    """
    files = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    files.sort(key=lambda file: (file[0].path.name != COMPILES, -seconds(file)))
    waiting = [file for file in files if file[0].get_closest_marker("airflow")]
    working = [file for file in files if file not in waiting]
    found, waited, worked = list[pytest.Item](), 0, 0
    for file in working:
        found += file
        worked += seconds(file)
        while waiting and waited * WORKERS_WITHOUT_AIRFLOW < worked:
            waited += seconds(waiting[0])
            found += waiting.pop(0)
    return found + [item for file in waiting for item in file]


def seconds(file: list[pytest.Item]) -> int:
    """About how long a file of tests takes."""
    return SECONDS.get("/".join(file[0].path.parts[-2:]), OTHERS)


class Refusing(MetaPathFinder):
    """Finds no package but refuses some."""

    def __init__(self, refused: set[str]) -> None:
        self.refused = {PACKAGES[name]: name for name in refused if name in PACKAGES}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG002 - the protocol's
        if fullname in self.refused:
            pytest.fail(f"a test without the marker `{self.refused[fullname]}` {WORDS[self.refused[fullname]]}")


@contextmanager
def guarded(refused: set[str]) -> Iterator[None]:
    """Nothing of these is imported or started in this process."""
    finder, plain = Refusing(refused), subprocess.Popen.__init__

    def watched(self: Any, args: Any, *more: Any, **others: Any) -> None:
        programs = {Path(str(part)).name for part in ([args] if isinstance(args, str) else args)}
        for name in sorted(refused & PROGRAMS.keys()):
            if PROGRAMS[name] in programs:
                self.returncode = 0  # so that its destructor has nothing to wait for
                pytest.fail(f"a test without the marker `{name}` {WORDS[name]}")
        plain(self, args, *more, **others)

    sys.meta_path.insert(0, finder)
    subprocess.Popen.__init__ = watched  # type: ignore[method-assign]
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        subprocess.Popen.__init__ = plain  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def _only_what_is_marked(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that lacks a marker cannot start what the marker stands for."""
    with guarded(DESCRIPTIONS.keys() - {mark.name for mark in request.node.iter_markers()}):
        yield
