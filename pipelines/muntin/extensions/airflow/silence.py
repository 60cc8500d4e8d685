"""Silence: a deadline of Airflow reports a run that has not ended in time, whatever keeps it."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import spell
from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath

log = logging.getLogger("muntin")
ENDED = ("success", "failed")


def deadline_of(pipeline: Pipeline, where: Mapping[str, Any] | None = None) -> list[Any]:
    """The deadline of each run, counted from when it was queued: a run for assets has no logical date. []
    unless alerts ask for it.

    `where`: the project's folder `home`, and the `root` of the state as `airflow_dag` has it. Airflow keeps a
    deadline as text: alerts need a channel with a name.
    """
    alerts: Any = pipeline.alerts
    if alerts is None or alerts.silent_after_us is None:
        return []
    named = [channel for channel in alerts.channels if isinstance(channel, str)]
    if not named:
        raise DefinitionError(
            "alerts: silent_after needs a channel with a name, as a connection: a notifier cannot report a"
            " silence"
        )
    from airflow.sdk import DeadlineAlert, DeadlineReference, SyncCallback  # type: ignore[attr-defined]

    kwargs = {"pipeline": pipeline.name, "channels": named, "after_us": alerts.silent_after_us}
    if pipeline.ask_within_us is not None:
        kwargs |= {"asking": {**(where or {}), "within_us": pipeline.ask_within_us}}
    interval = timedelta(microseconds=alerts.silent_after_us)
    callback = SyncCallback("muntin.extensions.airflow.silence.tell_of_silence", kwargs=kwargs)
    return [
        DeadlineAlert(
            DeadlineReference.DAGRUN_QUEUED_AT, interval, callback, name=f"{pipeline.name} is silent"
        )
    ]


def tell_of_silence(
    context: Mapping[str, Any],
    pipeline: str,
    channels: Sequence[str],
    after_us: int,
    asking: Mapping[str, Any] | None = None,
) -> None:
    """Send the message of a run that has not ended in time. Airflow's executor calls it, outside of the run.

    `asking`: where the state is, and how long a question waits; None of a definition that asks no person.

    A run of a backfill waits for other runs by design, and a failed run was reported: neither is silent.
    """
    from muntin.extensions.airflow.alerting import addresses_of, host

    run = context["dag_run"]
    if run["run_type"] == "backfill" or run["state"] in ENDED:
        return
    message = host().silence(
        pipeline,
        run["dag_run_id"],
        interval_of_run(run),
        spell(after_us),
        question_of(pipeline, run["dag_run_id"], asking),
    )
    for channel in channels:
        host().send(addresses_of(channel), message)
    log.info("alerts: sent to %s: run %s has not ended", ", ".join(channels), run["dag_run_id"])


def interval_of_run(run: Mapping[str, Any]) -> Interval | None:
    """The data interval of a run; None of a run by hand or by assets."""
    borders = [run.get(f"data_interval_{which}") for which in ("start", "end")]
    if None in borders or borders[0] == borders[1]:
        return None
    return Interval(*(instant_us(datetime.fromisoformat(str(border)), "data interval") for border in borders))


def question_of(pipeline: str, run: str, asking: Mapping[str, Any] | None) -> Any | None:  # noqa: ANN401 - a `Question` of alerts
    """The question of a run, by its note beside the state; None where it waits for something else, or the
    note cannot be read.
    """
    from muntin.extensions.airflow.alerting import form_of, host
    from muntin.jobs.records.attempts import attempts
    from muntin.jobs.records.batch_states import ASK
    from muntin.store.state import states_of

    if asking is None:
        return None
    try:
        noted = [
            each
            for state in states_of(root_at(asking.get("home"), asking.get("root")) / pipeline)
            for each in attempts(state)
        ]
    except Exception as wrong:  # noqa: BLE001 - the message goes out all the same
        log.warning("%s: the notes of runs cannot be read: %s", pipeline, wrong)
        return None
    waiting = next(
        (each for each in noted if (each.run, each.step, each.phase) == (run, ASK, "queued")), None
    )
    return (
        host().Question(
            (waiting.at_us + asking["within_us"]) // 1_000_000 * 1_000_000, form_of(waiting.link or "")
        )
        if waiting
        else None
    )


def root_at(home: str | None, root: str | None) -> AnyPath:
    """The root of the state, where Airflow has a pipeline by name alone; its credentials are in the
    environment then.
    """
    from muntin.extensions.airflow.storage import let_reach
    from muntin.jobs.state.home import named_home, root_of

    place = root_of(named_home() or Path(home or ""), root)
    let_reach([place])
    return place
