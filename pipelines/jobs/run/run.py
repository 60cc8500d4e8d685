"""Run a pipeline without Airflow: the same steps, in the same order, as the tasks of its DAG."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pipelines.definition.instants import from_us, instant_us
from pipelines.errors import ConflictError
from pipelines.jobs.bound import Bound, bind
from pipelines.jobs.pending import published
from pipelines.jobs.reports import BatchReport, RunReport
from pipelines.jobs.reports_table import last_accumulated, record_accumulated, record_published, utc_now
from pipelines.jobs.run.accumulate import accumulate
from pipelines.jobs.run.check import check
from pipelines.jobs.run.finalize import finalize
from pipelines.jobs.run.publish import publish
from pipelines.jobs.run.validate import validate_staged
from pipelines.jobs.upkeep.rebuild import left_behind
from pipelines.jobs.upstream import news_from_upstream
from pipelines.spark.spark_session import session_or_local
from pipelines.store.retries import after_conflicts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pyspark.sql import SparkSession

    from pipelines.definition.pipeline import Pipeline
    from pipelines.definition.schedule import Interval
    from pipelines.jobs.changes import Changes
    from pipelines.states.frames import Ints
    from pipelines.store.store import Store
    from pipelines.timeline.ledger import Entries

_TRIES = 8


@dataclass(frozen=True, slots=True)
class Finished:
    """What finalize, validate and publish did.

    Attributes:
        published: window -> starts of the batches whose windows were published.
        missing: intervals (start, end) that accumulated batches wait for.
        quality: the reports of the validation.
        remarks: what was lost or damaged and is derived again, for people.
    """

    published: Mapping[str, tuple[int, ...]]
    missing: tuple[tuple[int, int], ...]
    quality: tuple[Mapping[str, Any], ...]
    remarks: tuple[str, ...] = ()
    changed: Mapping[str, tuple[Changes, ...]] = field(default_factory=dict)


def run(
    pipeline: Pipeline,
    *,
    root: str | Path,
    start: datetime,
    end: datetime,
    spark: SparkSession | None = None,
    validate: bool = True,
    forget: bool = False,
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
) -> RunReport:
    """Accumulate, finalize, validate and publish every batch of `[start, end)`, in bulk.

    The result equals running the batches one by one, in order; the number of Spark jobs does not grow with their
    number. Running a range again re-reads its source and replaces those batches.

    Args:
        pipeline: the definition.
        root: folder that state of all pipelines lives below.
        start, end: borders of the schedule, aware datetimes.
        spark: a session, classic or Connect; None: the active session of the process, or a local one that stays for the next run.
        validate: whether expectations guard what is published.
        forget: whether a batch without files is empty, whatever was read of it before: its rows go out of published windows.
        progress: called with the name of each step as it begins.
        store: another implementation of `Store`.

    Raises:
        DefinitionError: start or end is no border of the schedule, or the definition does not fit the source.
        SourceError: the source cannot be read; or files are gone of batches that rows were read of, and `forget` is false.
        StateError: the state cannot be used.
        ExpectationsError: a critical expectation failed; nothing was published.
    """
    tell = progress or (lambda _: None)
    intervals = pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end"))
    bound = bind(pipeline, root, store=store)
    news = news_from_upstream(bound)
    intervals = sorted({*intervals, *news.intervals})
    check(bound, intervals, validate=validate, forget=forget)
    bound = bind(pipeline, root, store=store, claim=True)
    with session_or_local(spark) as active:
        tell("accumulate")
        done = accumulate(bound, active, intervals, forget=forget)
        changed = record_accumulated(bound.store, done, utc_now())
        news.remember(bound)
        finished = finish(bound, active, intervals, validate=validate, tell=tell)
    batches = batch_reports(bound, intervals, changed)
    record_published(bound.store, batches, utc_now())
    return RunReport(
        tuple(batches),
        tuple((from_us(a), from_us(b)) for a, b in finished.missing),
        {name: tuple(map(from_us, starts)) for name, starts in finished.published.items()},
        finished.quality,
        left_behind(pipeline, root),
        finished.remarks,
        finished.changed,
    )


def finish(bound: Bound, spark: SparkSession, intervals: Sequence[Interval], *, validate: bool, tell: Callable[[str], None]) -> Finished:
    """Finalize, validate, publish; again from finalize on if another run published in between.

    Raises:
        ConflictError: other runs published in between every time.
        ExpectationsError: a critical expectation failed.
    """
    published_starts: dict[str, tuple[int, ...]] = {}
    changes: dict[str, tuple[Changes, ...]] = {}

    def committed(window: str, starts: Sequence[int]) -> None:
        published_starts[window] = tuple(sorted({*published_starts.get(window, ()), *starts}))

    def changed(window: str, found: Changes) -> None:
        changes[window] = (*changes.get(window, ()), found)

    def attempted() -> Finished:
        tell("finalize")
        staged = finalize(bound, spark, [interval.start_us for interval in intervals])
        quality: tuple[Mapping[str, Any], ...] = ()
        if validate and bound.pipeline.expectations and staged.windows:
            tell("validate")
            quality = tuple(validate_staged(bound, spark, staged))
        tell("publish")
        try:
            publish(bound, staged, committed=committed, validated=validate, changed=changed)
        except ConflictError:
            bound.store.discard(staged.folder)
            raise
        return Finished(published_starts, tuple((low, high) for low, high in staged.missing), quality, tuple(staged.remarks), changes)

    given_up = f"{bound.pipeline.name}: other runs keep publishing; run again when they are done"
    return after_conflicts(_TRIES, given_up)(attempted)


def batch_reports(bound: Bound, intervals: Sequence[Interval], changed: Mapping[int, bool] | None = None) -> list[BatchReport]:
    """The report of each batch, from the reports table and the ledgers as they are now."""
    read = last_accumulated(bound.store, intervals)
    starts = np.array([interval.start_us for interval in intervals], np.int64)
    ledgers = {name: _told(now.ledger.entries, starts) for name in bound.windows if (now := published(bound.store, name)).ledger}
    told = [{name: entry for name, entries in ledgers.items() if (entry := entries[at])} for at in range(len(intervals))]
    return [
        _report(interval, read[interval.start_us], entries, (changed or {}).get(interval.start_us, False))
        for interval, entries in zip(intervals, told, strict=True)
        if interval.start_us in read
    ]


@dataclass(frozen=True, slots=True)
class _Told:
    """What a ledger tells of a batch; see `Entries`."""

    mark_us: int
    windows: int
    missed: int
    late_any: int


def _told(entries: Entries, starts: Ints) -> list[_Told | None]:
    """What a ledger tells of some batches; None of those that it does not know."""
    at = entries.position(starts)
    columns = (column[at].tolist() for column in (entries.mark_us, entries.windows, entries.missed, entries.late_any))
    return [_Told(*facts) if known else None for known, *facts in zip((at >= 0).tolist(), *columns, strict=True)]


def _report(interval: Interval, read: Mapping[str, Any], entries: Mapping[str, _Told], changed: bool) -> BatchReport:  # noqa: FBT001
    marks = [entry.mark_us for entry in entries.values() if entry.mark_us > -(2**61)]
    return BatchReport(
        from_us(interval.start_us),
        from_us(interval.end_us),
        read["rows_read"],
        read["rows_accepted"],
        read["rows_quarantined"],
        max((entry.late_any for entry in entries.values()), default=0),
        {name: entry.windows for name, entry in entries.items()},
        from_us(max(marks)) if marks else None,
        {name: entry.missed for name, entry in entries.items()},
        changed,
    )
