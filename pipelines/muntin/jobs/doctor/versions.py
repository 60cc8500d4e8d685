"""The versions of packages here and on Spark's workers: what is compiled or pickled here must be understood there."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from muntin.jobs.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.tasks import Runner

PACKAGES = ("muntin", "deltalake", "duckdb", "numba", "numpy", "pyarrow", "pyspark")
_NONE = "not installed"


def versions(_: object = None) -> dict[str, str]:
    """Package -> its version in this process, Python's first."""
    return {"python": platform.python_version(), **{name: _of(name) for name in PACKAGES}}


def _of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _NONE


def examine_versions(runner: Runner) -> list[Finding]:
    """What differs between this process and a worker of Spark."""
    [there] = runner.run(versions, [None])
    return differing(versions(), there)


def differing(here: Mapping[str, str], there: Mapping[str, str]) -> list[Finding]:
    """The packages of which the worker has another version. Of Python the first two numbers count.

    >>> [found.problem for found in differing({"python": "3.11.7", "numpy": "2.1"}, {"python": "3.11.9", "numpy": "2.2"})]
    ['numpy is 2.2 on the worker, 2.1 here']
    """
    found = []
    for name, ours in here.items():
        theirs = there.get(name, _NONE)
        if name == "pyspark" and theirs == _NONE:
            continue  # Spark brings its own to the workers
        one, two = (text.rpartition(".")[0] if name == "python" else text for text in (ours, theirs))
        if one != two:
            mend = "set PYSPARK_PYTHON to the same Python" if name == "python" else f"install {name}=={ours} on the workers"
            found.append(Finding("Spark's workers", f"{name} is {theirs} on the worker, {ours} here", mend))
    return found
