"""The last step of a run: its windows are published; where another run came first, they are finalized and
validated again.

Sending changes to the sinks of a definition, by connections of Airflow.

A sink that is down fails no task.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import from_us
from muntin.errors import ConflictError
from muntin.extensions.airflow import log_lines
from muntin.extensions.airflow.assets.events import announced, spelled
from muntin.extensions.airflow.steps import check_same
from muntin.jobs.published.change_lines import SHOWN, change_lines
from muntin.quality.report import MOST, plain, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from muntin.extensions.airflow.assets.announcements import Announcer
    from muntin.extensions.airflow.assets.partitions import Partitions
    from muntin.extensions.airflow.place import Place
    from muntin.files.connections import Connection
    from muntin.jobs.publish.finish import Finished
    from muntin.jobs.published.changes import Changes
    from muntin.jobs.records.approvals import Approval
    from muntin.jobs.records.costs import Cost
    from muntin.jobs.records.metrics import Metric
    from muntin.jobs.records.reports import BatchReport
    from muntin.jobs.state.bound import Bound
    from muntin.tasks import Runner

    Quality = Sequence[Mapping[str, Any]]
log = logging.getLogger("muntin")


def sent_to_sinks(bound: Bound, runner: Runner) -> list[str]:
    """Send to each sink what it misses; a line for each sink that got something or failed.

    The session of `runner` is for sinks that need Spark. It begins here: a task speaks to Airflow from one
    thread.
    """
    from muntin.jobs.sending.send import reported, send
    from muntin.sinks.delivery import Reach

    spark = runner.spark if any(sink.needs_spark for sink in bound.sinks) else None
    sent = send(bound, Reach(connections_of(bound.sinks), partial(nullcontext, spark) if spark else None))
    for one in sent:
        if one.rows and not one.failed:
            log.info("sinks: %s", one.line)
    return list(reported(sent))


def connections_of(sinks: Iterable[Any]) -> Callable[[str], Connection]:
    """The connections that sinks name, by name.

    They are asked for at once: a task speaks to Airflow from one thread.
    """
    from muntin.sinks.errors import SinkError

    connection_or_error = dict[str, Any]()
    for name in {sink.connection_name for sink in sinks if sink.connection_name}:
        try:
            connection_or_error[name] = connection_of(name)
        except SinkError as wrong:
            connection_or_error[name] = wrong

    def connection(name: str) -> Connection:
        if isinstance(connection_or_error[name], SinkError):
            raise connection_or_error[name]
        return connection_or_error[name]

    return connection


def connection_of(name: str) -> Connection:
    """A connection, wherever Airflow keeps it."""
    from muntin.extensions.airflow.spark import connection
    from muntin.files.connections import Connection
    from muntin.sinks.errors import SinkError

    if (airflow_connection := connection(name)) is None:
        raise SinkError(f"Airflow has no connection {name!r}; make it")
    return Connection(
        airflow_connection.conn_type,
        airflow_connection.host,
        airflow_connection.port,
        airflow_connection.login,
        airflow_connection.password,
        airflow_connection.schema,
        airflow_connection.extra_dejson,
    )


def publish(
    place: Place,
    staged: Mapping[str, Any],
    accumulated: Mapping[str, Any],
    quality: Quality,
    runner: Runner,
    record: Callable[[Callable[[], Sequence[Metric]]], None] = lambda _: None,
    cost: Callable[[], Cost] | None = None,
    partitions: Partitions | None = None,
    answer: Mapping[str, str] | None = None,
    announcer: Announcer | None = None,
) -> dict[str, Any]:
    """Publish the staged windows. If another run published since, finalize and validate again.

    `record` is called with what works out metrics.

    JSON-able: `report` of the run's own batch, `published`: window -> starts of the published batches,
    `waiting_for`: missing intervals, `quality`: window -> its verdict, `changed`: window -> how many
    published windows it changed, and the first with old and new values, `announced`: window -> what to tell
    of it, which is more than `published` if another run published meanwhile or ended before it reported, and
    less if another run reports it; `reports`: of validation, and `revised`, if the definition declares
    alerts; `sinks`: what became of them, a line each, if it declares sinks. `answer`: what the task `ask`
    returned: the approval of a person to publish despite a failed suite.
    """
    from muntin.extensions.airflow.assets.announcements import begin
    from muntin.jobs.records.approvals import Approval, spelled_approval
    from muntin.jobs.records.costs import Cost
    from muntin.jobs.records.verdicts import note_despite
    from muntin.jobs.steps import conclude
    from muntin.jobs.upkeep.rebuild import left_behind

    check_same(place, accumulated)
    begin(place.bound)
    approval = Approval(**answer) if answer else None
    if approval:
        # first: whatever ends this, it is known
        note_despite(place.bound.folder, place.bound.pipeline.guarded, approval)
    finished = _finished(place, staged, quality, runner, approval)
    starts_of_window, missing = finished.published, [list(hole) for hole in finished.missing]
    changed = {place.interval.start_us: accumulated["source_changed"]}
    reports = conclude(
        place.bound, [place.interval], finished, cost() if cost else Cost(), changed=changed, record=record
    )
    report = next(report for report in reports if report.interval_start == from_us(place.interval.start_us))
    schedule = place.bound.pipeline.intervals
    for line in log_lines.published(place.interval, report, starts_of_window, missing, schedule):
        log.info(line)
    for words in sorted({*map(spelled_approval, finished.said.values())}):
        log.warning("published %s", words)
    if left := left_behind(place.bound):
        log.warning(log_lines.left_behind(left))
    return {
        "report": report.to_dict(),
        "published": {window: spelled(starts) for window, starts in starts_of_window.items()},
        "announced": announced(place, starts_of_window, partitions, announcer),
        "waiting_for": [[from_us(low).isoformat(), from_us(high).isoformat()] for low, high in missing],
        "quality": {of_window["window"]: of_window["verdict"] for of_window in finished.quality},
        "changed": _revised(finished.changed),
        **(_for_alerts(place, finished, report) if place.bound.alerts else {}),
        **({"sinks": sent_to_sinks(place.bound, runner)} if place.bound.sinks else {}),
    }


def _revised(changed: Mapping[str, Sequence[Changes]]) -> dict[str, Any]:
    """Window -> how many published windows of this name a run changed, and the first with old and new values,
    as far as an XCom has room.
    """
    for shown in (SHOWN, 1, 0):
        revised = {
            window: {
                "windows": sum(len(part) + part.uncompared for part in parts),
                "first": [
                    plain(row) for row in islice((row for part in parts for row in part.rows(shown)), shown)
                ],
            }
            for window, parts in changed.items()
        }
        if size(revised) <= MOST // 4:
            break
    return revised


def _for_alerts(place: Place, finished: Finished, report: BatchReport) -> dict[str, Any]:
    """Facts for the message of the run: checks, and revised windows."""
    from muntin.extensions.airflow.alerting import host

    revisions = host().gathered.revisions(place.bound, finished.changed, [report])
    return {"reports": list(finished.quality), "revised": revisions}


def _finished(
    place: Place, staged: Mapping[str, Any], quality: Quality, runner: Runner, approval: Approval | None
) -> Finished:
    """Publish what is staged; where another run published since, finalize and validate again."""
    from muntin.jobs.publish.finish import Finished, finish
    from muntin.jobs.published.promotion import promote_complete
    from muntin.jobs.published.staged_windows import load_staged

    holes = tuple((low, high) for low, high in staged["missing"])
    if staged["folder"] is None:
        finished = Finished({}, holes, tuple(quality), promoted=tuple(promote_complete(place.bound)))
    else:
        try:
            loaded = load_staged(place.bound.store, staged["folder"])
        except ConflictError as wrong:
            log.info("%s", wrong)
            loaded = None
        given = None if loaded is None else (loaded, tuple(quality))
        finished = finish(
            place.bound,
            runner,
            [place.interval],
            validate=True,
            tell=log.info,
            approval=approval,
            staged=given,
        )
    if finished.promoted:
        log.info(
            "promoted: %s: readers know the windows of this definition now", ", ".join(finished.promoted)
        )
    for window, parts in finished.changed.items():
        for line in change_lines(window, parts):
            log.info(line)
    return finished
