"""Repair: derive again exactly what is lost or damaged, from states where they suffice, else from the source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.amounts import many
from muntin.definition.schedule import Interval
from muntin.errors import StateError
from muntin.files.paths import rename
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.doctor.examine import damaged_logs, examine, gone_back
from muntin.jobs.publish.finish import finish
from muntin.jobs.publish.spark_needed import spark_needed
from muntin.jobs.published.ledger_segments import write_segment
from muntin.jobs.published.pending import pending_windows
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.batch_reports import batch_reports
from muntin.jobs.records.reports_table import record_accumulated, record_published, utc_now
from muntin.jobs.state.state_folders import bind_existing
from muntin.store.store import Change
from muntin.tasks import runner_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.doctor.finding import Damage
    from muntin.jobs.state.bound import Bound
    from muntin.tasks import Runner

_ASIDE = ".damaged"


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result of a repair.

    Attributes:
        logs: what was set aside of logs: files, or whole logs.
        read: starts of the batches that were read again.
        derived: window -> starts of the batches whose windows were derived again.
        notes: how many notes are forgotten; they are made again when they are needed.
    """

    logs: tuple[AnyPath, ...]
    read: tuple[int, ...]
    derived: dict[str, tuple[int, ...]]
    notes: int

    def __bool__(self) -> bool:
        """Whether there was anything to do."""
        return bool(self.logs or self.read or self.notes or any(self.derived.values()))


def repair(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    spark: SparkSession | str | Runner | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Repaired:
    """Mend a state. A damaged file stays in its folder under a name that ends with `.damaged`.

    A log that is torn at its end loses these commits; one with a gap is begun anew. What they held is derived again. No other run
    may be at work meanwhile.

    Raises:
        StateError: there is no state, or damage is left.
        SourceError: the source of a lost batch is gone.
        ExpectationsError: what was derived again fails its suite; nothing was published.
    """
    bound = bind_existing(pipeline, root)
    progress("logs")
    torn = damaged_logs(bound)
    logs = tuple(_set_aside(table, [*problems]) for table, problems in torn.items())
    progress("files")
    damage = examine(bound, deep=True)
    damage = replace(damage, states=tuple(sorted({*damage.states, *gone_back(bound, torn)})))
    for path in damage.files:
        if path.exists():
            rename(path, path.with_name(f"{path.name}{_ASIDE}"))
    forgotten = sum(_forget(bound, window, notes) for window, notes in damage.notes.items())
    derived = _derived(bound, damage, spark, progress)
    left = examine(bound, deep=True)
    if left.files or left.states:
        first = left.files[0] if left.files else f"batch {left.states[0]}"
        raise StateError(f"{bound.folder}: {first} is damaged still; run muntin repair again when no other run is at work")
    return Repaired(logs, damage.states, derived, forgotten)


def _set_aside(table: AnyPath, bad: Sequence[AnyPath]) -> AnyPath:
    """Take the damaged end of a log away; of a log that is damaged elsewhere, the log."""
    commits = sorted(path for path in (table / "_delta_log").iterdir() if path.suffix == ".json" and path.name[0].isdigit())
    tail = commits[len(commits) - len(bad) :]
    if tail == sorted(bad) and len(tail) < len(commits):
        for path in tail:
            rename(path, path.with_name(f"{path.name}{_ASIDE}"))
        return tail[0]
    log = table / "_delta_log"
    aside = next(place for at in range(1000) if not (place := table / f"_delta_log{_ASIDE}{at or ''}").exists())
    rename(log, aside)
    return log


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
    told = replace(ledger, entries=ledger.entries.take(np.array(named, np.int64)))
    segment = write_segment(bound.table(now.table), now.snapshot.schema, now.number + 1, told)
    bound.store.commit(now.table, now.snapshot, Change(now.snapshot.schema, [segment], [], [f"{bound.pipeline.name}/{window}"]))
    return len(named)


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
    with runner_for(spark, needed=spark_needed(bound.pipeline)) as runner:
        if read:
            progress(f"read {many(len(read), 'batch')} again")
            record_accumulated(bound.store, accumulate(bound, runner, read), utc_now())
        finished = finish(bound, runner, asked, validate=True, tell=progress)
    published_starts = sorted({start for starts in finished.published.values() for start in starts})
    intervals = [Interval(start, after(start)) for start in published_starts]
    record_published(bound.store, batch_reports(bound, intervals), utc_now())
    both = ((window, {*finished.published.get(window, ()), *damage.windows.get(window, ())}) for window in bound.windows)
    return {window: tuple(sorted(starts)) for window, starts in both if starts}
