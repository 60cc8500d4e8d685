"""Markers by what a test uses, set when tests are collected; and a guard that stops a test which uses what its markers do not say.

| marker | a test that |
| --- | --- |
| `spark` | asks for the fixture `spark`, also through another fixture, or runs a program that builds a session |
| `gx` | lies in `tests/quality`, or in a file that speaks of expectations |
| `airflow` | lies in `tests/airflow`, but not in `tests/airflow/plain`; it may use all of them |
| `install` | imports `tests.installs`, to install the package with `uv` |
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.abc import MetaPathFinder
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
    return set(DESCRIPTIONS) if {"airflow", "tests"} <= {*folders} and "plain" not in folders else found


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
