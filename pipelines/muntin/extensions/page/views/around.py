"""Surroundings of pipelines: the runs that Airflow knows, paused DAGs, and parts of Airflow that are dead;
nothing without Airflow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.jobs.records.attempts import Attempt


@dataclass(frozen=True, slots=True)
class Dead:
    """A part of Airflow that gives no sign of life; its last heartbeat, microseconds since 1970, None: there
    never was one.
    """

    part: str
    heartbeat_us: int | None


@dataclass(frozen=True, slots=True)
class Around:
    """The knowledge beside the states.

    Attributes:
        runs: pipeline -> its runs that are queued, at work or failed.
        paused: the pipelines whose DAG is paused.
        dead: the dead parts of Airflow.
        in_airflow: whether Airflow runs the pipelines.
    """

    runs: Mapping[str, Sequence[Attempt]] = field(default_factory=dict)
    paused: frozenset[str] = frozenset()
    dead: tuple[Dead, ...] = ()
    in_airflow: bool = False

    def of(self, pipeline: str) -> Sequence[Attempt] | None:
        """The runs of a pipeline; None where Airflow does not run it."""
        return self.runs.get(pipeline) if self.in_airflow else None


NOTHING = Around()


def no_airflow(names: Sequence[str]) -> Around:  # noqa: ARG001 - nothing is known
    """Nothing, as there is no Airflow."""
    return NOTHING
