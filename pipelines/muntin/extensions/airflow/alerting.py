"""Callbacks that Airflow calls when a task's state is decided: they note that the run's asset events are
emitted, and send its message.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import instant_us
from muntin.extensions.airflow.place import place_of
from muntin.registry import extension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muntin.definition.pipeline import Pipeline
    from muntin.extensions.airflow.place import Context, Place, Root
    from muntin.jobs.publish.held import HeldWindows

log = logging.getLogger("muntin")


def host() -> Any:  # noqa: ANN401 - a module
    """The parts of alerts that Airflow calls."""
    return extension("alerts", "host")


def callbacks(
    pipeline: Pipeline, root: Root, own: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of every task, and of the last task, that make Airflow call back. Without alerts only the
    last task does.

    A callback that the user gives to all tasks (`own`, the DAG's `default_args`) is called too.
    """

    def on_failure(context: Context) -> None:
        wrong = context.get("exception") or RuntimeError("the task ended")
        _tell(pipeline, root, context, lambda at: _failed(at, wrong, str(context["ti"].log_url)))

    def on_success(context: Context) -> None:
        """Note that the events of a run are emitted, and tell what was wrong with its data."""
        from muntin.extensions.airflow.assets.events import acknowledge

        try:
            acknowledge(place_of(pipeline, context, root), _result(context))
        except Exception as wrong:  # noqa: BLE001 - the run is decided
            log.warning(
                "asset events: not noted as emitted, so that the next run emits them again: %s", wrong
            )
        _tell(pipeline, root, context, lambda at: _ended_well(at, context))

    ending = {"on_success_callback": [*_listed(own.get("on_success_callback")), on_success]}
    failing = {"on_failure_callback": [*_listed(own.get("on_failure_callback")), on_failure]}
    return failing if pipeline.alerts else {}, ending


@contextmanager
def ending_reported(
    pipeline: Pipeline, root: Root, context: Context, *, last: bool = False
) -> Iterator[None]:
    """Around the work of a task: where it ends the run of a backfill, note so.

    Airflow counts the run as ended before it calls back.
    """
    from airflow.sdk.exceptions import TaskDeferred

    try:
        yield
    except TaskDeferred:
        raise
    except BaseException:
        _expect(pipeline, root, context)
        raise
    if last:
        _expect(pipeline, root, context)


def _expect(pipeline: Pipeline, root: Root, context: Context) -> None:
    if pipeline.alerts is None or context["dag_run"].run_type != "backfill":
        return

    try:
        host().expect(place_of(pipeline, context, root).bound.folder, _in_backfill(context))
    except Exception as wrong:  # noqa: BLE001 - the run is decided
        log.warning("alerts: not noted that the run ends: %s", type(wrong).__name__)


def tell_asked(
    pipeline: Pipeline,
    root: Root,
    context: Context,
    held: HeldWindows,
    until_us: int,
) -> None:
    """Tell that a suite holds what a run staged, and that a question waits until then: the run itself has not
    failed.
    """

    def asked(at: Place) -> Any:  # noqa: ANN401 - the facts of a run, as alerts have them
        run_facts = host().gathered.unpublished(
            at.bound, [at.interval], [*held.reports.values()], link=form_of(str(context["ti"].log_url))
        )
        return replace(run_facts, asked_until_us=until_us, verdict=held.name)

    _tell(pipeline, root, context, asked)


def form_of(log_url: str) -> str:
    """The address of the form in which a person answers the question of a task."""
    return f"{log_url.partition('?')[0]}/required_actions"


def _result(context: Context) -> Any:  # noqa: ANN401 - of `publishing.publish`
    return context["ti"].xcom_pull(task_ids=context["ti"].task_id)


def _listed(callback: Any) -> list[Any]:  # noqa: ANN401 - a callback, several, or None
    return list(callback) if isinstance(callback, list | tuple) else [callback] if callback else []


def _tell(pipeline: Pipeline, root: Root, context: Context, facts: Callable[[Place], Any]) -> None:
    """Send the message of a run, if there are alerts; whatever goes wrong is a line of the task's log."""
    if pipeline.alerts is None:
        return

    try:
        at = place_of(pipeline, context, root)
        if (alerts := at.bound.alerts) is None:
            return
        sender, backfill = host().Sender(addresses_of, dict(context)), _in_backfill(context)
        for line in host().tell(alerts, at.bound.folder, lambda: facts(at), sender, backfill):
            log.info("alerts: %s", line)
    except Exception as wrong:  # noqa: BLE001 - the run is decided
        log.warning("alerts: not sent: %s", type(wrong).__name__)


def _in_backfill(context: Context) -> Any:  # noqa: ANN401 - of alerts
    """How a run stands to the backfills of its DAG.

    A task may ask Airflow for numbers of runs only, not of which backfill they are.
    """
    run, ti = context["dag_run"], context["ti"]

    def unfinished(names: Sequence[str] | None) -> int:
        return int(ti.get_dr_count(dag_id=run.dag_id, run_ids=names, states=["queued", "running"]))

    link = str(ti.log_url).partition("/runs/")[0]
    return host().InBackfill(run.run_id, run.run_type == "backfill", unfinished, f"{link}/backfills")


def _failed(at: Place, wrong: BaseException, link: str) -> Any:  # noqa: ANN401 - as above
    """The facts of a run, from its error. What failed was reported when a person was asked."""
    if verdict_and_reason := getattr(wrong, "kept", None):
        verdict, why = verdict_and_reason
        return replace(
            host().gathered.unpublished(at.bound, [at.interval], [], link=link), kept=why, verdict=verdict
        )
    return host().gathered.failed(at.bound, [at.interval], wrong, link=link)


def _ended_well(at: Place, context: Context) -> Any:  # noqa: ANN401 - as above
    from muntin.jobs.records.batch_reports import batch_reports

    result = _result(context)
    return host().gathered.ended_well(
        at.bound,
        [at.interval],
        batch_reports(at.bound, [at.interval]),
        quality=result["reports"],
        published={
            window: [_us(start) for start in starts] for window, starts in result["published"].items()
        },
        missing=[(_us(low), _us(high)) for low, high in result["waiting_for"]],
        link=str(context["ti"].log_url).partition("/tasks/")[0],
        approved=[result["report"].get("despite")],
        revised=result["revised"],
    )


def _us(text: str) -> int:
    return instant_us(datetime.fromisoformat(text), "publish")


def addresses_of(channel: str) -> list[Any]:
    """The addresses of a channel: of an environment variable, or of a connection,
    wherever Airflow keeps it.
    """
    from muntin.extensions.airflow.spark import connection

    if channel.startswith(host().VARIABLE):
        return host().of_environment(channel)
    if (airflow_connection := connection(channel)) is None:
        raise host().ChannelError(f"Airflow has no connection {channel!r}; make one of type apprise")
    return host().of_connection(channel, airflow_connection.conn_type, airflow_connection.extra_dejson)
