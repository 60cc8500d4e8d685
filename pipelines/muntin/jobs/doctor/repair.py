"""Repair: derive again exactly what is lost or damaged, from states where they suffice,
else from the source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import StateError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.doctor.examine import damaged_logs, examine, gone_back
from muntin.jobs.doctor.finding import paths_of, without
from muntin.jobs.doctor.set_aside import mended_log, reclaim, taken_out
from muntin.jobs.publish.finish import finish
from muntin.jobs.publish.spark_needed import spark_needed
from muntin.jobs.published.as_defined import copies
from muntin.jobs.published.lost_commits import lost_commits, table_versions
from muntin.jobs.published.pending import pending_windows
from muntin.jobs.published.window_tables import commit_segment, published
from muntin.jobs.records.batch_reports import batch_reports
from muntin.jobs.records.costs import metered
from muntin.jobs.records.reports_table import record_accumulated, record_published, utc_now
from muntin.jobs.state.forgotten_log import put_back
from muntin.jobs.state.state_folders import bind_existing
from muntin.states.frames import NO_INTS
from muntin.tasks import runner_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.doctor.finding import Damage
    from muntin.jobs.state.bound import Bound
    from muntin.tasks import Runner


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result of a repair.

    Attributes:
        logs: what was set aside of logs: files, or whole logs.
        read: starts of the batches that were read again.
        derived: window -> starts of the batches whose windows were derived again.
        notes: how many notes are forgotten; they are made again when they are needed.
        files: lost or damaged files that were taken out of the way, or written anew.
    """

    logs: tuple[AnyPath, ...]
    read: tuple[int, ...]
    derived: dict[str, tuple[int, ...]]
    notes: int
    files: tuple[AnyPath, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.logs or self.files or self.read or self.notes or any(self.derived.values()))


def repair(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    spark: SparkSession | str | Runner | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Repaired:
    """Mend a state. A damaged file stays in its folder under a name that ends with `.damaged`.

    A log that is torn at its end loses these commits; one with a gap is begun anew. What they held is derived
    again. Reports and verdicts in a damaged file are lost: nothing but the file had them. No other run may be
    at work meanwhile.

    Raises:
        StateError: there is no state, or damage is left.
        SourceError: the source of a lost batch is gone.
        ExpectationsError: what was derived again fails its suite; nothing was published.
    """
    marked = reclaim(pipeline, root)
    bound = replace(bind_existing(pipeline, root), mending=True)
    marked = (*marked, *put_back(bound.home, deep=True))
    progress("logs")
    torn = damaged_logs(bound)
    logs = tuple(path for table in torn for path in mended_log(table))
    progress("files")
    damage = examine(bound, deep=True)
    damage = replace(
        damage, states=tuple(sorted({*damage.states, *gone_back(without(bound, damage.bad), torn)}))
    )
    taken_out(bound, damage.bad)
    forgotten = sum(_forget(bound, window, notes) for window, notes in damage.notes.items())
    derived = _derived(bound, damage, spark, progress)
    for lost in lost_commits(bound, [*bound.windows]):
        _note_versions(bound, lost.window)
    left = examine(bound, deep=True)
    if left.bad or left.states or left.behind:
        first = next(iter(paths_of(bound, left.bad)), None) or f"batch {next(iter(left.states), left.behind)}"
        raise StateError(
            f"{bound.folder}: {first} is damaged still; run muntin doctor --mend FILE again when no other run"
            " is at work"
        )
    of_sinks = [path for sink in bound.sinks for path in sink.repair(bound)]
    return Repaired(
        logs, damage.states, derived, forgotten, (*marked, *paths_of(bound, damage.bad), *of_sinks)
    )


def _forget(bound: Bound, window: str, notes: Sequence[tuple[str, ...]]) -> int:
    """Take lost notes out of the ledger; how many."""
    now = published(bound.store, window)
    if now.ledger is None or now.snapshot.schema is None:
        return 0
    entries = now.ledger.entries
    named = [at for at in entries.noted().tolist() if entries.note_of(at) in notes]
    ledger = now.ledger
    for note in notes:
        ledger = ledger.without_note(note)
    commit_segment(
        bound, window, now, replace(ledger, entries=ledger.entries.take(np.array(named, np.int64)))
    )
    return len(named)


def _note_versions(bound: Bound, window: str) -> None:
    """Note in the ledger of a window the versions that the tables of its states have now, where it knows
    later ones.
    """
    now = published(bound.store, window)
    if now.ledger is not None:
        nothing = now.ledger.entries.take(NO_INTS)
        commit_segment(
            bound, window, now, replace(now.ledger, entries=nothing, tables=table_versions(bound, window))
        )


def _derived(
    bound: Bound, damage: Damage, spark: SparkSession | str | Runner | None, progress: Callable[[str], None]
) -> dict[str, tuple[int, ...]]:
    """Read the lost batches again, and derive what is lost of windows."""
    after = bound.pipeline.intervals.after
    read = [Interval(start, after(start)) for start in damage.states]
    lost = {start for starts in damage.windows.values() for start in starts}
    asked = sorted({*read, *(Interval(start, after(start)) for start in lost)})
    if not asked and not any(pending.work for pending in pending_windows(bound, [])):
        return {}
    with metered() as meter, runner_for(spark, needed=spark_needed(bound.pipeline)) as runner:
        if read:
            progress(f"read {many(len(read), 'batch')} again")
            record_accumulated(bound.store, accumulate(bound, runner, read), utc_now())
        finished = finish(bound, runner, asked, validate=True, tell=progress)
    published_starts = sorted({start for starts in finished.published.values() for start in starts})
    intervals = [Interval(start, after(start)) for start in published_starts]
    record_published(bound.store, batch_reports(bound, intervals), utc_now(), meter.cost, copies(bound))
    both = (
        (window, {*finished.published.get(window, ()), *damage.windows.get(window, ())})
        for window in bound.windows
    )
    return {window: tuple(sorted(starts)) for window, starts in both if starts}
