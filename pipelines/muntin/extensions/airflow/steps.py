"""The steps of a run: each calls a job of `muntin.jobs` for one interval and writes to the task's log.

No Airflow is imported.

A run is of one definition: the task accumulate names it, and a later task that finds
another one refuses.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.errors import ConflictError, DefinitionError, StateError
from muntin.extensions.airflow import log_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from muntin.extensions.airflow.place import Place
    from muntin.jobs.published.staged_windows import Staged
    from muntin.jobs.records.reports import Accumulated
    from muntin.jobs.state.bound import Bound
    from muntin.jobs.steps import Record
    from muntin.tasks import Runner

FEW_ROWS = 100_000
"""So many windows are judged in the task itself: in less time, and with less memory, than a session takes to
begin.
"""
log = logging.getLogger("muntin")


def check(place: Place, file: str | None) -> None:
    """See that the pipeline's name is its own, that the interval's files are there, and that the definition
    and its suites fit.

    `file`: of a DAG that is the pipeline's own. Its name is compared with the names of the other pipelines
    here, since the file is parsed all day.
    """
    from muntin.jobs.check import check as try_out
    from muntin.jobs.state.same_names import check_alone

    if file:
        check_alone(Path(file), place.bound.pipeline.name)
    try_out(place.bound, [place.interval])


def accumulate(
    place: Place,
    runner: Runner,
    reported: Callable[[Sequence[Accumulated]], None] = lambda _: None,
    record: Record = lambda _: None,
) -> dict[str, Any]:
    """Read the interval's events into states; from an upstream every batch published since the last run.

    JSON-able: the interval, its counts of rows, whether its source has changed, and the definition.
    `reported` gets the batches that were read, `record` the metrics of the step.
    """
    from muntin.jobs.inputs.changed_past import unsettled
    from muntin.jobs.steps import read

    source_reading = read(place.bound, runner, [place.interval], unread=True, named=True, record=record)
    batches, changed = source_reading.batches, source_reading.changed
    reported(batches)
    batch = next(batch for batch in batches if batch.interval == place.interval)
    for line in log_lines.accumulated(batch, changed=changed[batch.interval.start_us]):
        log.info(line)
    for line in log_lines.past(batches, changed, batch.interval):
        log.info(line)
    for line in unsettled(place.bound.folder):
        log.warning("left as it was: %s", line)
    return {
        "interval": str(batch.interval),
        **batch.counts.columns(),
        "files_hidden": batch.hidden,
        "source_changed": changed[batch.interval.start_us],
        KEY: definition_of(place.bound),
    }


def finalize(place: Place, runner: Runner, accumulated: Mapping[str, Any]) -> dict[str, Any]:
    """Stage the windows of all batches that changed.

    JSON-able: the staging folder (None: nothing changed), the missing intervals, and the definition. Another
    definition than that of the task accumulate is refused; likewise by the tasks after this.
    """
    from muntin.jobs.finalize.finalize import finalize as stage
    from muntin.jobs.state.beside_forgetting import beside_forgetting

    check_same(place, accumulated)
    staged = beside_forgetting(place.bound, lambda: stage(place.bound, runner, [place.interval.start_us]))
    for line in log_lines.staged(staged, place.interval, place.bound.pipeline.intervals):
        log.info(line)
    return {
        "folder": staged.folder if staged.windows else None,
        "missing": staged.missing,
        KEY: accumulated.get(KEY),
    }


def validate(place: Place, runner: Runner, staged: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Hold the staged windows against their suites, and return the reports.

    An `ExpectationsError` if a critical expectation failed, and no person is asked.
    """
    from muntin.jobs.publish.publish import is_stale
    from muntin.jobs.published.staged_windows import load_staged
    from muntin.quality.suite import ExpectationsFailed

    check_same(place, staged)
    if staged["folder"] is None:
        log.info("nothing is staged: nothing to validate")
        return []
    try:
        loaded = load_staged(place.bound.store, staged["folder"])
    except ConflictError as wrong:
        log.info("%s: the task publish will do so", wrong)
        return []
    if is_stale(place.bound.store, loaded):
        log.info(
            "another run published since these windows were staged: the task publish will finalize and"
            " validate again"
        )
        return []
    try:
        reports = _judged(place, runner, loaded)
    except ExpectationsFailed as failed:
        if place.bound.pipeline.ask_within_us is None:
            raise
        reports = [report.to_dict() for report in failed.reports]
    except (OSError, StateError):
        if not is_stale(place.bound.store, loaded):
            raise
        log.info(
            "keys were forgotten since these windows were staged: the task publish will finalize and validate"
            " again"
        )
        return []
    for line in log_lines.validated(reports, loaded):
        log.info(line)
    return reports


def _judged(place: Place, runner: Runner, staged: Staged) -> list[dict[str, Any]]:
    """The reports on staged windows: few are judged in this process, which needs no session, but where Spark
    alone judges.
    """
    from muntin.jobs.publish.validate import validate_staged
    from muntin.quality.suite import SuiteError
    from muntin.tasks import Local

    if sum(file["rows"] for window in staged.windows for file in window.files) <= FEW_ROWS:
        try:
            return validate_staged(place.bound, Local(), staged)
        except SuiteError as wrong:
            log.info("%s", wrong)
    return validate_staged(place.bound, runner, staged)


KEY = "definition"


def definition_of(bound: Bound) -> dict[str, Any]:
    """Names of a definition: `state`, the fingerprint, and `windows`, window -> derivation. JSON-able."""
    return {"state": bound.state, "windows": {window: bound.derivation(window) for window in bound.windows}}


def check_same(place: Place, accumulated: Mapping[str, Any]) -> None:
    """Refuse to go on with a run under another definition than it began with.

    `accumulated`: what the task accumulate returned.
    """
    begun, now = accumulated[KEY], definition_of(place.bound)
    if begun == now:
        return
    raise DefinitionError(
        f"{place.bound.pipeline.name}: the definition changed while the run of {place.interval} was going:"
        f" {_difference(begun, now)}. Clear the run from the task accumulate on, and all of it runs under the"
        " definition as it is now; or put the earlier definition back and clear this task"
    )


def _difference(begun: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    if begun["state"] != now["state"]:
        return f"the task accumulate wrote the state {begun['state']}, and this task would use {now['state']}"
    windows = {**begun["windows"], **now["windows"]}
    other = [name for name in windows if begun["windows"].get(name) != now["windows"].get(name)]
    return (
        f"since the task accumulate ran, {', '.join(map(repr, other))} is another window, is new or is gone"
    )
