"""Silence: a deadline of Airflow reports a run that has not ended in time, whatever keeps it.

Freshness: `fresh_within` of a definition as a deadline of Airflow, which tells while a batch is late, not
after.

interval      [ ............ ]
queued                        x
deadline                      | <- fresh_within -> !       published at the latest
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import spell
from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.definition.time_limits import Freshness
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from muntin.definition.pipeline import Pipeline
    from muntin.extensions.airflow.place import Context
    from muntin.files.paths import AnyPath

log = logging.getLogger("muntin")
ENDED = ("success", "failed")


def deadline_of(pipeline: Pipeline, where: Mapping[str, Any]) -> list[Any]:
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
    after_us = alerts.silent_after_us
    kwargs = {"channels": named, "after_us": after_us}
    return [_deadline(pipeline, where, after_us, tell_of_silence, "is silent", kwargs)]


def _deadline(
    pipeline: Pipeline,
    where: Mapping[str, Any],
    after_us: int,
    tell: Callable[..., None],
    about: str,
    kwargs: dict[str, Any],
) -> Any:  # noqa: ANN401 - Airflow's
    """A deadline so long after a run was queued, and what is called then, by its name and with `kwargs`."""
    from airflow.sdk import DeadlineAlert, DeadlineReference, SyncCallback  # type: ignore[attr-defined]

    kwargs |= {"pipeline": pipeline.name}
    if pipeline.ask_within_us is not None:
        kwargs |= {"asking": {**where, "within_us": pipeline.ask_within_us}}
    return DeadlineAlert(
        DeadlineReference.DAGRUN_QUEUED_AT,
        timedelta(microseconds=after_us),
        SyncCallback(f"{__name__}.{tell.__name__}", kwargs=kwargs),
        name=f"{pipeline.name} {about}",
    )


def tell_of_silence(
    context: Context,
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
    question = question_of(pipeline, run["dag_run_id"], asking)
    message = host().silence(pipeline, run["dag_run_id"], interval_of_run(run), spell(after_us), question)
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
    if waiting is None:
        return None
    until_us = (waiting.at_us + asking["within_us"]) // 1_000_000 * 1_000_000
    return host().Question(until_us, form_of(waiting.link or ""))


def root_at(home: str | None, root: str | None) -> AnyPath:
    """The root of the state, where Airflow has a pipeline by name alone; its credentials are in the
    environment then.
    """
    from muntin.extensions.airflow.storage import let_reach
    from muntin.jobs.state.home import named_home, root_of

    place = root_of(named_home() or Path(home or ""), root)
    let_reach([place])
    return place


def fresh_by(pipeline: Pipeline, where: Mapping[str, Any]) -> list[Any]:
    """The deadline of each run: `fresh_within`. [] unless the definition has a target.

    It counts from when the run was queued, so that runs of old intervals have as long, and runs for assets
    have it, too. `where`: the project's folder `home`, and the `root` of the state as `airflow_dag` has it.
    """
    if (within_us := pipeline.fresh_within_us) is None:
        return []
    alerts = pipeline.listener
    first = pipeline.intervals.around(pipeline.intervals.first_border_us)
    channels = [channel for channel in alerts.channels if isinstance(channel, str)] if alerts else []
    kwargs = {"channels": channels, "within_us": within_us, "windows": [*pipeline.windows]}
    kwargs |= {"batch_us": first.end_us - first.start_us, **where}
    return [_deadline(pipeline, where, within_us, tell_of_lag, "is not fresh", kwargs)]


def tell_of_lag(
    context: Context,
    pipeline: str,
    channels: Sequence[str],
    within_us: int,
    windows: Sequence[str] = (),
    batch_us: int = 0,
    home: str | None = None,
    root: str | None = None,
    asking: Mapping[str, Any] | None = None,
) -> None:
    """Send the message of a batch that is later than `fresh_within`. Airflow's executor calls it, outside of
    the run.

    Without channels it is a line of the callback's log, beside the missed deadline that Airflow shows. A run
    of a backfill, and a run of an old interval that is caught up, leave the newest windows as they are; and
    another run may have published what this run has not.
    """
    from muntin.extensions.airflow.alerting import addresses_of, host
    from muntin.jobs.records.reports_table import now_us

    run = context["dag_run"]
    if run["run_type"] == "backfill" or run["state"] == "success" or _is_old(run):
        return
    interval, newest = interval_of_run(run), _newest_us(pipeline, windows, home, root) if windows else None
    late_us = None if newest is None else now_us() - newest - 2 * batch_us
    due = (
        newest is not None and newest >= interval.start_us if interval else Freshness(within_us, late_us).met
    )
    if due:
        log.info(
            "%s: run %s has not published, and its windows are fresh all the same: another run has",
            pipeline,
            run["dag_run_id"],
        )
        return
    question = question_of(pipeline, run["dag_run_id"], asking)
    message = host().not_fresh(pipeline, run["dag_run_id"], interval, spell(within_us), question)
    log.warning(message.title)
    for channel in channels:
        host().send(addresses_of(channel), message)


def _newest_us(pipeline: str, windows: Sequence[str], home: str | None, root: str | None) -> int | None:
    """The start of the newest batch that all windows of readers have; None where nothing is published, or
    where it cannot be said.
    """
    from muntin.jobs.published.window_tables import current
    from muntin.store.delta import DeltaStore

    try:
        store = DeltaStore(root_at(home, root) / pipeline / "any")  # tables of readers lie beside the states
        ledgers = [current(store, window).ledger for window in windows]
    except Exception as wrong:  # noqa: BLE001 - who watches tells rather once too often
        log.warning("%s: what is published cannot be read: %s", pipeline, wrong)
        return None
    newest = [int(each.entries.start_us[-1]) for each in ledgers if each and len(each.entries)]
    return min(newest) if newest and len(newest) == len(ledgers) else None


def _is_old(run: Mapping[str, Any]) -> bool:
    """Whether the next interval had ended, too, when the run was queued."""
    start, end, queued = (run.get(name) for name in ("data_interval_start", "data_interval_end", "queued_at"))
    if not (start and end and queued):
        return False
    first, last, then = (datetime.fromisoformat(str(each)) for each in (start, end, queued))
    return last > first and then >= last + (last - first)
