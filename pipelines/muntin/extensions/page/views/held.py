"""The windows that a suite holds, for the page that publishes it all the same.

Surroundings of pipelines: the runs that Airflow knows, paused DAGs, and parts of Airflow that are dead;
nothing without Airflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

from muntin.definition.schedule import Interval
from muntin.errors import StateError
from muntin.extensions.page.views.seen import Seen
from muntin.jobs.publish.held import held_windows, unknown
from muntin.jobs.records.attempts import Attempt, attempts
from muntin.jobs.records.batch_states import ASK
from muntin.jobs.records.batch_status import together


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
        owners: pipeline -> who owns its DAG, as `default_args={"owner": ...}` says.
    """

    runs: Mapping[str, Sequence[Attempt]] = field(default_factory=dict)
    paused: frozenset[str] = frozenset()
    dead: tuple[Dead, ...] = ()
    in_airflow: bool = False
    owners: Mapping[str, str] = field(default_factory=dict)

    def of(self, pipeline: str) -> Sequence[Attempt] | None:
        """The runs of a pipeline; None where Airflow does not run it."""
        return self.runs.get(pipeline) if self.in_airflow else None


NOTHING = Around()


def no_airflow(names: Sequence[str]) -> Around:  # noqa: ARG001 - nothing is known
    """Nothing, as there is no Airflow."""
    return NOTHING


@dataclass(frozen=True, slots=True)
class Held:
    """The windows that a verdict holds.

    Attributes:
        name: of the verdict.
        over, count: the range of the batches, and their number.
        reports: of the windows that failed.
        others: windows that would be published with them.
        command: that publishes them without Airflow.
        link: of Airflow's task that waits for the answer; None where no run waits.
    """

    name: str
    over: Interval
    count: int
    reports: tuple[Mapping[str, Any], ...]
    others: tuple[str, ...]
    command: str
    link: str | None


def held(at: Seen, verdict: str, around: Around) -> Held:
    """The windows that a verdict holds."""
    every = held_windows(at.bound)
    one = next((each for each in every if each.name == verdict), None)
    if one is None:
        raise StateError(unknown(verdict, every))
    others = tuple(window.window for window in one.staged.windows if window.window not in one.reports)
    # a run by hand says its start alone, and its note the rest
    runs = together(attempts(at.bound.folder), around.of(at.name))
    waiting = [run for run in runs if (run.step, run.phase) == (ASK, "queued")]
    last = one.starts[-1]
    link = next((run.link for run in reversed(waiting) if run.covers(last, one.over.end_us)), None)
    reports = tuple(one.reports.values())
    words = [
        "muntin",
        "publish",
        str(at.place.file or "FILE"),
        "--root",
        str(at.place.root),
        "--despite",
        verdict,
        "--reason",
    ]
    return Held(
        one.name,
        one.over,
        len(one.starts),
        reports,
        others,
        f"{' '.join(map(quote, words))} '...'",
        link,
    )
