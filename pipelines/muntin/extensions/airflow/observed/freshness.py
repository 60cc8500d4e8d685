"""Freshness: `fresh_within` of a definition as a deadline of Airflow, which tells while a batch is late, not
after.

interval      [ ............ ]
queued                        x
deadline                      | <- fresh_within -> !       published at the latest
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import spell
from muntin.definition.instants import instant_us
from muntin.definition.time_limits import Freshness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.pipeline import Pipeline

log = logging.getLogger("muntin")


def fresh_by(pipeline: Pipeline, where: Mapping[str, Any] | None = None) -> list[Any]:
    """The deadline of each run: `fresh_within`. [] unless the definition has a target.

    It counts from when the run was queued, so that runs of old intervals have as long, and runs for assets
    have it, too. `where`: the project's folder `home`, and the `root` of the state as `airflow_dag` has it.
    """
    if (within_us := pipeline.fresh_within_us) is None:
        return []
    from airflow.sdk import DeadlineAlert, DeadlineReference, SyncCallback  # type: ignore[attr-defined]

    alerts = pipeline.alerts
    first = pipeline.intervals.around(pipeline.intervals.first_border_us)
    channels = [channel for channel in alerts.channels if isinstance(channel, str)] if alerts else []
    kwargs = {"pipeline": pipeline.name, "channels": channels, "within_us": within_us}
    kwargs |= {"windows": [*pipeline.windows], "batch_us": first.end_us - first.start_us, **(where or {})}
    if pipeline.ask_within_us is not None:
        kwargs |= {"asking": {**(where or {}), "within_us": pipeline.ask_within_us}}
    left = timedelta(microseconds=within_us)
    callback = SyncCallback("muntin.extensions.airflow.observed.freshness.tell_of_lag", kwargs=kwargs)
    return [
        DeadlineAlert(
            DeadlineReference.DAGRUN_QUEUED_AT, left, callback, name=f"{pipeline.name} is not fresh"
        )
    ]


def tell_of_lag(
    context: Mapping[str, Any],
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
    from muntin.extensions.airflow.silence import interval_of_run, question_of
    from muntin.jobs.records.reports_table import utc_now

    run = context["dag_run"]
    if run["run_type"] == "backfill" or run["state"] == "success" or _is_old(run):
        return
    interval, newest = interval_of_run(run), _newest_us(pipeline, windows, home, root) if windows else None
    late_us = None if newest is None else instant_us(utc_now(), "now") - newest - 2 * batch_us
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
    from muntin.extensions.airflow.silence import root_at
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
