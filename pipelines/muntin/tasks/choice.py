"""Choice of the runner: the caller's, else a Spark that is running, else Spark if it is needed, else this
process.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from muntin.errors import DefinitionError
from muntin.tasks.local import Local

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from pyspark.sql import SparkSession

    from muntin.tasks.runner import Runner

    Given: TypeAlias = SparkSession | str | Runner | None

REMOTE = "SPARK_REMOTE"
NEEDED = "local[*]"
_KNOWN = ("local", "spark://", "yarn", "k8s://", "sc://")


@contextmanager
def runner_for(given: Given = None, *, needed: str | None = None) -> Iterator[Runner]:
    """The runner for the tasks of the block: of a session, classic or Connect, of an address of Spark, or the
    runner itself.

    Without any: the active session of this process, else the Spark that `SPARK_REMOTE` names, else a local
    Spark if `needed`, else this process. `needed`: what needs Spark, for people; None: nothing does.
    """
    runner_or_address = _chosen(given, needed)
    if not isinstance(runner_or_address, str):
        yield runner_or_address
        return
    from muntin.spark.session import opened, spoken
    from muntin.tasks.spark import OnSpark

    with opened(runner_or_address, computes=needed is not None) as session:
        yield OnSpark(session, spoken(runner_or_address))


def place_of(given: Given = None, *, needed: str | None = None) -> str:
    """The place where `runner_for` would run tasks, and why, for people. Nothing is started.

    >>> place_of("local[2]")
    'on Spark (local[2])'
    """
    runner_or_address = _chosen(given, needed)
    place = str(runner_or_address)
    if isinstance(runner_or_address, str):
        from muntin.spark.session import spoken

        place = f"on Spark ({spoken(runner_or_address)})"
    return f"{place}, for {needed}" if needed and given is None else place


def _chosen(given: Given, needed: str | None) -> Runner | str:
    """A runner, or the address of the Spark that is to run tasks."""
    choice = given or _active() or os.environ.get(REMOTE) or (NEEDED if needed else Local())
    if isinstance(choice, str):
        if not choice.startswith(_KNOWN):
            raise DefinitionError(
                f"spark: {choice!r} is no address of Spark;"
                " write local[*], spark://host:7077, yarn, k8s://... or sc://host:15002"
            )
        return choice
    if not hasattr(choice, "parallelism"):
        from muntin.tasks.spark import OnSpark

        return OnSpark(choice)
    if needed and choice.spark is None:
        raise DefinitionError(
            f"{needed} needs Spark, and there is none here; give a session or an address, as spark={NEEDED!r}"
        )
    return choice


def _active() -> Any | None:  # noqa: ANN401 - Spark's
    """The active session of this process; Spark is not imported for it."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()
