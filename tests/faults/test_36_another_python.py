"""Fault 36: packages of Spark that do not fit, workers with another Python or without the package. A sentence says so, and what to set."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from muntin.errors import StateError
from muntin.tasks.spark import OnSpark

WORKER = "An exception was thrown from the Python worker. Please see the stack trace below.\nTraceback (most recent call last):\n"
WRONG = {
    f"{WORKER}ModuleNotFoundError: No module named 'duckdb'\n": "run a Python at /usr/bin/python3 that has no module 'duckdb'",
    f"{WORKER}ModuleNotFoundError: No module named 'muntin.jobs'\n": "has no module 'muntin.jobs'",
    "Error from python worker:\n  /usr/bin/python3: Error while finding module specification for 'muntin.extensions.zygote.daemon' "
    "(ModuleNotFoundError: No module named 'muntin')\n": "has no module 'muntin'",
    f"{WORKER}[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11, PySpark cannot run "
    "with different minor versions.\n": "Spark's workers run Python 3.9 at /usr/bin/python3",
    'java.io.IOException: Cannot run program "python9": error=2, No such file or directory': "Spark's workers cannot start python9",
}


def session(text: str) -> Any:
    """A session whose jobs fail."""

    def collect() -> list[Any]:
        raise RuntimeError(text)

    done = SimpleNamespace(map=lambda _: SimpleNamespace(collect=collect))
    return SimpleNamespace(sparkContext=SimpleNamespace(parallelize=lambda *_: done, pythonExec="/usr/bin/python3"))


@pytest.mark.parametrize("text", WRONG)
def test_it_is_said_which_python_workers_run(text: str) -> None:
    with pytest.raises(StateError) as told:
        OnSpark(session(text)).run(len, ["x"])
    assert WRONG[text] in str(told.value)
    assert sys.executable in str(told.value)
    assert "PYSPARK_PYTHON" in str(told.value)
    assert "\n" not in str(told.value)


def test_another_error_is_what_it_was() -> None:
    with pytest.raises(RuntimeError, match="no space left"):
        OnSpark(session("no space left on device")).run(len, ["x"])
