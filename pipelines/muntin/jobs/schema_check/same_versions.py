"""Check that driver, workers and earlier runs have the same versions: a worker compares them before it reads
a row.
"""

from __future__ import annotations

import json
import logging
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from muntin.errors import StateError
from muntin.files.paths import AnyPath
from muntin.jobs.state.notes import change_note, read_note
from muntin.store.state import FORMAT

PACKAGES = ("muntin", "deltalake", "duckdb", "numba", "numpy", "pyarrow", "pyspark")
NAME = "versions.json"
_NONE = "not installed"
_FORMAT = "state format"
_STATES = ("python", "muntin", _FORMAT)
"""Where these differ, a worker may make other states than the driver."""
_log = logging.getLogger("muntin")


@dataclass(frozen=True, slots=True)
class Difference:
    """A package of which a worker has another version: the words, and what mends it."""

    problem: str
    mend: str


def versions(_: object = None) -> dict[str, str]:
    """Package -> its version in this process, Python's first."""
    return {"python": platform.python_version(), **{name: _of(name) for name in PACKAGES}}


def _of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _NONE


def differing(here: Mapping[str, str], there: Mapping[str, str]) -> list[Difference]:
    """The packages of which the worker has another version. Of Python the first two numbers count.

    >>> [each.problem for each in differing({"python": "3.11.7", "numpy": "2.1"}, {"python": "3.11.9",
    ...     "numpy": "2.2"})]
    ['numpy is 2.2 on the worker, 2.1 here']
    """
    differences = []
    for name, ours in here.items():
        theirs = there.get(name, _NONE)
        if name == "pyspark" and theirs == _NONE:
            continue  # Spark brings its own to the workers
        one, two = (text.rpartition(".")[0] if name == "python" else text for text in (ours, theirs))
        if one != two:
            mend = (
                "set PYSPARK_PYTHON to the same Python"
                if name == "python"
                else f"install {name}=={ours} on the workers"
            )
            differences.append(Difference(f"{name} is {theirs} on the worker, {ours} here", mend))
    return differences


@lru_cache(maxsize=1)
def versions_here() -> Mapping[str, str]:
    """Package -> its version in this process, and the format of states that it writes."""
    return {**versions(), _FORMAT: str(FORMAT)}


def check_worker(driver: Mapping[str, str], here: Mapping[str, str]) -> None:
    """Refuse to work on a worker that would make other states than the driver. `driver`, `here`:
    `versions_here` of both.

    A worker must have the same Muntin, the same format of states and the same minor version of Python.
    """
    other = [
        finding for name in _STATES if name in driver for finding in differing({name: driver[name]}, here)
    ]
    if other:
        problems = "; ".join(each.problem for each in other)
        raise StateError(
            f"Spark's workers would make other states: {problems}. Nothing was read; {other[0].mend}"
        )


def say_other_workers(there: Iterable[Mapping[str, str]]) -> None:
    """Say what differs between this process and its workers. `there`: `versions_here` of workers."""
    for worker in {json.dumps(dict(each), sort_keys=True): each for each in there}.values():
        for each in differing(versions_here(), worker):
            _log.warning("Spark's workers: %s; %s", each.problem, each.mend)


def say_other_versions(state: AnyPath) -> None:
    """Report versions that differ from the last run's, as after an upgrade, or where Airflow's machines are
    not the same.
    """
    before = read_note(state / NAME)
    if before is None:
        return
    for name, here in versions_here().items():
        if differing({name: here}, before):
            _log.warning(
                "%s is %s here, and was %s at the last run of this state",
                name,
                here,
                before.get(name, "not installed"),
            )


def note_versions(state: AnyPath) -> None:
    """Note the versions of a run in the folder of its state, unless they are noted already."""
    change_note(state / NAME, lambda before: None if before == versions_here() else versions_here())
