"""That driver, workers and earlier runs have the same versions: compared before anything is committed."""

from __future__ import annotations

import json
import logging
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.errors import StateError
from pipelines.files.paths import path_of
from pipelines.jobs.doctor.versions import differing, versions
from pipelines.store.disk import write_whole
from pipelines.store.state import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME = "versions.json"
_FORMAT = "state format"
_STATES = ("python", "muntin", _FORMAT)
"""Where these differ, a worker may make other states than the driver."""
_log = logging.getLogger("muntin")


@lru_cache(maxsize=1)
def versions_here() -> Mapping[str, str]:
    """Package -> its version in this process, and the format of states that it writes."""
    return {**versions(), _FORMAT: str(FORMAT)}


def check_workers(there: Iterable[Mapping[str, str]]) -> None:
    """Refuse states of workers that may have made other ones than this process would; say what else differs.

    `there`: `versions_here` of workers; those of this process are passed over.

    Raises:
        StateError: a worker has another Muntin, another format of states or another minor version of Python.
    """
    for found in {json.dumps(dict(each), sort_keys=True): each for each in there}.values():
        other = {name: finding for name in versions_here() for finding in differing({name: versions_here()[name]}, found)}
        if wrong := [other[name] for name in _STATES if name in other]:
            problems = "; ".join(each.problem for each in wrong)
            raise StateError(f"Spark's workers would make other states: {problems}. Nothing was committed; {wrong[0].mend}")
        for each in other.values():
            _log.warning("Spark's workers: %s; %s", each.problem, each.mend)


def say_other_versions(state: str) -> None:
    """Say which versions differ from those of the last run, as after an upgrade, or where Airflow's machines are not the same."""
    try:
        before = json.loads(path_of(state, NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for name, here in versions_here().items():
        if differing({name: here}, before):
            _log.warning("%s is %s here, and was %s at the last run of this state", name, here, before.get(name, "not installed"))


def note_versions(state: str) -> None:
    """Note the versions of a run in the folder of its state, unless they are noted already.

    Raises:
        StateError: the disk refuses.
    """
    path, content = path_of(state, NAME), (json.dumps(versions_here(), indent=2) + "\n").encode()
    try:
        same = path.read_bytes() == content
    except OSError:
        same = False
    if not same:
        write_whole(path, content)
