"""The notes of Airflow's runs beside the state, so that `muntin status` says of them what Airflow's own page
does; and their metrics.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from muntin.extensions.airflow.place import step_of
from muntin.printable import make_printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muntin.extensions.airflow.place import Context, PlaceOf
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
    place: PlaceOf,
    context: Context,
    *,
    begins: bool = True,
    last: bool = False,
) -> Iterator[Noting]:
    """Around the work of a task: note that its step begins, ends or fails.

    `begins` is False of what comes before the step, of which a failure alone is noted; `last`: whether the
    run ends with the step: then nothing is left to note.
    """
    from airflow.sdk.exceptions import TaskDeferred

    from muntin.jobs.records.attempts import failed, forget, note
    from muntin.jobs.records.costs import Cost, metered
    from muntin.jobs.records.processes import out_of_memory

    with metered() as meter:
        begun = _begun(place, context)
        if begun is None:
            try:
                yield Noting(meter, Cost())
            except Exception as wrong:
                make_printable(wrong)
                raise
            return
        state, attempt = begun
        noting = Noting(meter, attempt.cost)
        if begins:
            note(state, attempt)
        try:
            yield noting
        except TaskDeferred:
            note(state, replace(attempt, phase="queued", process=None, cost=noting.cost))
            raise
        except BaseException as wrong:
            memory_error = out_of_memory(wrong, attempt)
            make_printable(wrong)
            note(state, replace(failed(attempt, wrong), cost=noting.cost))
            _record_state(place, context)
            if memory_error:
                raise memory_error from wrong
            raise
        if last:
            forget(state, attempt)
            _record_state(place, context)
        elif begins:
            note(state, replace(attempt, phase="queued", process=None, cost=noting.cost))


def _record_state(place: PlaceOf, context: Context) -> None:
    from muntin.jobs.records.metrics import of_state
    from muntin.jobs.records.reports_table import now_us

    record(lambda: of_state(place(context).bound, now_us()))


def noted_as_asked(place: PlaceOf, context: Context) -> None:
    """Note that a run waits for the answer of a person, without a process; and that its batches are held."""
    from muntin.jobs.records.attempts import note

    if begun := _begun(place, context):
        state, attempt = begun
        note(state, replace(attempt, phase="queued", process=None))
        _record_state(place, context)


def _begun(place: PlaceOf, context: Context) -> tuple[AnyPath, Attempt] | None:
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
        from airflow.sdk.configuration import conf
        from airflow.sdk.observability import stats

        from muntin.jobs.records.metrics import KINDS

        for each in metrics():
            send = stats.incr if KINDS[each.name].type == "counter" else stats.gauge
            send(each.name, each.value, tags=each.labels)
            if conf.getboolean("metrics", "legacy_names_on", fallback=True):
                parts = (
                    stats.normalize_name_for_stats(part, log_warning=False).replace(".", "__")
                    for part in each.labels.values()
                )
                send(".".join([each.name, *parts]), each.value)
    except Exception as wrong:  # noqa: BLE001 - windows go before figures about them
        log.warning("metrics: not recorded: %s: %s", type(wrong).__name__, wrong)
