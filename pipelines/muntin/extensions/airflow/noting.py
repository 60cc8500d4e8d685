"""The notes of Airflow's runs beside the state, so that `muntin status` says of them what Airflow's own page
does; and their metrics.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muntin.extensions.airflow.place import step_of
from muntin.printable import make_printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muntin.extensions.airflow.place import Place
    from muntin.files.paths import AnyPath
    from muntin.jobs.records.attempts import Attempt
    from muntin.jobs.records.costs import Cost, Meter
    from muntin.jobs.records.metrics import Metric

log = logging.getLogger("muntin")


@dataclass(slots=True)
class Noting:
    """The note of a run while one of its tasks works: what the tasks before it cost, and the meter of this
    task.
    """

    meter: Meter
    before: Cost

    @property
    def cost(self) -> Cost:
        return self.before + self.meter.cost


@contextmanager
def noted(
    place: Callable[[Mapping[str, Any]], Place],
    context: Mapping[str, Any],
    *,
    begins: bool = True,
    last: bool = False,
) -> Iterator[Noting]:
    """Around the work of a task: note that its step begins, ends or fails.

    `begins` is False of what comes before the step, of which a failure alone is noted; `last`: whether the
    run ends with the step: then nothing is left to note.
    """
    from airflow.sdk.exceptions import TaskDeferred

    from muntin.definition.instants import instant_us
    from muntin.jobs.records.attempts import failed, forget, note
    from muntin.jobs.records.costs import Cost, metered
    from muntin.jobs.records.metrics import of_state
    from muntin.jobs.records.out_of_memory import out_of_memory
    from muntin.jobs.records.reports_table import utc_now

    with metered() as meter:
        folder_and_attempt = _begun(place, context)
        noting = Noting(meter, folder_and_attempt[1].cost if folder_and_attempt else Cost())
        if folder_and_attempt and begins:
            note(*folder_and_attempt)
        try:
            yield noting
        except TaskDeferred:
            if folder_and_attempt:
                note(
                    folder_and_attempt[0],
                    replace(folder_and_attempt[1], phase="queued", process=None, cost=noting.cost),
                )
            raise
        except BaseException as wrong:
            memory_error = out_of_memory(wrong, folder_and_attempt[1]) if folder_and_attempt else None
            make_printable(wrong)
            if folder_and_attempt:
                note(folder_and_attempt[0], replace(failed(folder_and_attempt[1], wrong), cost=noting.cost))
                record(lambda: of_state(place(context).bound, instant_us(utc_now(), "now")))
            if memory_error:
                raise memory_error from wrong
            raise
        if folder_and_attempt and last:
            forget(*folder_and_attempt)
            record(lambda: of_state(place(context).bound, instant_us(utc_now(), "now")))
        elif folder_and_attempt and begins:
            note(
                folder_and_attempt[0],
                replace(folder_and_attempt[1], phase="queued", process=None, cost=noting.cost),
            )


def noted_as_asked(place: Callable[[Mapping[str, Any]], Place], context: Mapping[str, Any]) -> None:
    """Note that a run waits for the answer of a person, without a process; and that its batches are held."""
    from muntin.definition.instants import instant_us
    from muntin.jobs.records.attempts import note
    from muntin.jobs.records.metrics import of_state
    from muntin.jobs.records.reports_table import utc_now

    if folder_and_attempt := _begun(place, context):
        note(folder_and_attempt[0], replace(folder_and_attempt[1], phase="queued", process=None))
        record(lambda: of_state(place(context).bound, instant_us(utc_now(), "now")))


def _begun(
    place: Callable[[Mapping[str, Any]], Place], context: Mapping[str, Any]
) -> tuple[AnyPath, Attempt] | None:
    """The folder of the state, and the attempt as its task begins; None where the run has no place, which the
    task itself will say.
    """
    from muntin.jobs.records.attempts import attempts, begun

    try:
        at, ti = place(context), context["ti"]
        now = begun(context["dag_run"].run_id, [at.interval], step_of(ti.task_id), str(ti.log_url))
        before = next((each for each in attempts(at.bound.folder) if each.run == now.run), None)
    except Exception as wrong:  # noqa: BLE001 - the task itself raises what matters
        log.debug("the run is not noted: %s", wrong)
        return None
    if before is None or now.step == "accumulate":
        return at.bound.folder, now
    return at.bound.folder, replace(now, began_us=before.began_us, cost=before.cost)


def record(metrics: Callable[[], Sequence[Metric]]) -> None:
    """Send metrics to Airflow's own:

    StatsD, Datadog or OpenTelemetry. What goes wrong is a line of the task's log: no task fails by it.
    """
    try:
        for each in metrics():
            _send(each)
    except Exception as wrong:  # noqa: BLE001 - windows go before figures about them
        log.warning("metrics: not recorded: %s: %s", type(wrong).__name__, wrong)


def _send(metric: Metric) -> None:
    """Send a metric with labels; and, as Airflow does for its own, under a name that holds them, for
    receivers that know no labels.
    """
    from airflow.sdk.configuration import conf
    from airflow.sdk.observability import stats

    from muntin.jobs.records.metrics import KINDS

    send = stats.incr if KINDS[metric.name].type == "counter" else stats.gauge
    send(metric.name, metric.value, tags=metric.labels)
    if conf.getboolean("metrics", "legacy_names_on", fallback=True):
        parts = (
            stats.normalize_name_for_stats(part, log_warning=False).replace(".", "__")
            for part in metric.labels.values()
        )
        send(".".join([metric.name, *parts]), metric.value)
