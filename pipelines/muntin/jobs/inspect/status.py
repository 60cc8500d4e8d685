"""Status: the content of a state, as its tables tell, and as its definition tells where that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL, from_us, instant_us
from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Interval
from muntin.definition.time_limits import Freshness, freshness
from muntin.files.paths import AnyPath, folders_in, sizes_below
from muntin.jobs.inputs.changed_past import changed_past, unsettled
from muntin.jobs.inspect.open_windows import open_count, open_since
from muntin.jobs.published.as_defined import other_windows
from muntin.jobs.published.pending import pending_windows
from muntin.jobs.published.window_files import latest_end
from muntin.jobs.published.window_tables import Standing, current, published, standing, windows_of
from muntin.jobs.records.attempts import Attempt
from muntin.jobs.records.batch_states import BatchState
from muntin.jobs.records.batch_status import BatchStates, batch_states
from muntin.jobs.records.reports_table import TABLE, last_recorded_at
from muntin.jobs.records.reports_table import now_us as clock_us
from muntin.jobs.sending.notes import SinkStanding, standings
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.forgotten import forgotten
from muntin.jobs.state.state_folders import Staging, bind_existing, stagings, state_folders
from muntin.store.batch_facts import batches_of
from muntin.store.delta import DeltaStore
from muntin.store.paths import QUARANTINE, folder_of
from muntin.store.store import Store
from muntin.store.tier_files import expired_before
from muntin.timeline.batches import Batches
from muntin.timeline.ledger import no_entries


@dataclass(frozen=True, slots=True)
class WindowStatus:
    """One window of a pipeline, as it is published.

    Attributes:
        window: its name.
        first, last, batches: starts of the first and the last batch of the history, and the number of its
            batches.
        windows: how many windows are published.
        published_to: the latest end of a published window.
        watermark: how far time is known after the last batch.
        open_since: the earliest start of an open window; None where the tables do not tell.
        rows_late, windows_missed: rows too late for at least one window; windows missed, summed over rows.
        rows_correcting: rows that revised windows that were published, and missed none.
        unpublished: how many batches were read since: their windows wait for a finalize, or for missing
            intervals.
        open: how many windows are open; None where the definition is not known, or too many states would have
            to be read.
        gone_before: windows of batches that start before it are gone, as the definition's `retain` says;
            None: none are.
        version: of the live table, to ask later what changed since; None before there is one.
    """

    window: str
    first: datetime | None
    last: datetime | None
    batches: int
    windows: int
    published_to: datetime | None
    watermark: datetime | None
    open_since: datetime | None
    rows_late: int
    windows_missed: int
    unpublished: int
    gone_before: datetime | None = None
    open: int | None = None
    version: int | None = None
    rows_correcting: int = 0


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """The state of a pipeline under one fingerprint.

    `standing`: "current": readers know its windows; "superseded": a newer definition was promoted;
    "candidate": it waits to be promoted. `redefined`: the windows that were published by another definition
    of the same states. `bytes`: of all its files, without the live windows. `waiting` (starts of batches
    behind missing intervals) and `missing` (the missing intervals) are None where the definition is not
    known. `staged`: the staged folders, whose windows are not published. `unsent`: how many messages of
    alerts wait. `sinks`: how far each sink is, where the definition is known. `unforgotten`: how many keys
    are being forgotten, and something of them may be left. `states`: of the batches, where the definition is
    known. `fresh`: the target of the definition and how far it is from it. `..._gone_before`: states, refused
    rows and reports of batches before it are gone, as the definition's `retain` says; None: none are.
    `unsettled`: what the last run left of the past as it was, a sentence each. `changed`: the starts of the
    batches that the next run reads again; None where they were not compared.
    """

    pipeline: str
    fingerprint: str
    batches: int
    rows_quarantined: int
    windows: tuple[WindowStatus, ...]
    waiting: tuple[datetime, ...] | None
    missing: tuple[tuple[datetime, datetime], ...] | None
    staged: tuple[Staging, ...]
    last_run: datetime | None
    standing: Standing = "current"
    bytes: int = 0
    unsent: int = 0
    states_gone_before: datetime | None = None
    refused_gone_before: datetime | None = None
    reports_gone_before: datetime | None = None
    sinks: tuple[SinkStanding, ...] = ()
    states: BatchStates | None = None
    fresh: Freshness | None = None
    unforgotten: int = 0
    redefined: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()
    changed: tuple[datetime, ...] | None = None

    @property
    def watermark(self) -> datetime | None:
        """How far time is known in what is published; of several windows the earliest."""
        return min((window.watermark for window in self.windows if window.watermark), default=None)

    def to_dict(self) -> dict[str, Any]:
        """The status as plain dicts; instants are datetimes.

        `states` has the counts, `listed` the batches that are listed singly.
        """
        plain = asdict(replace(self, states=None, fresh=None))
        batches = [_told(each) for each in self.states.listed] if self.states else []
        return plain | {
            "states": dict(self.states.counts) if self.states else None,
            "told": batches,
            "fresh": self.fresh and self.fresh.to_dict(),
        }


def _told(one: BatchState) -> dict[str, Any]:
    words = {
        name: getattr(one, name)
        for name in ("state", "step", "reason", "link", "checks", "verdict", "despite")
    }
    return {
        "start": from_us(one.start_us),
        "end": from_us(one.end_us),
        "since": _moment(one.since_us),
        "culprits": [from_us(start) for start in one.culprits],
        **words,
    }


def states_below(root: str | AnyPath) -> list[PipelineStatus]:
    """The status of every state below a root, without definitions."""
    return [_from_tables(folder, {}) for folder in state_folders(root)]


def status(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    now_us: int | None = None,
    airflow_runs: Sequence[Attempt] | None = None,
    compared: bool = False,
) -> PipelineStatus:
    """The status of a pipeline under its present definition.

    `airflow_runs`: the runs that Airflow knows. `compared`: whether all that was read is compared with its
    source.
    """
    bound = bind_existing(pipeline, root)
    windows = pending_windows(bound, [])
    opened = {pending.window: (open_since(bound, pending), open_count(bound, pending)) for pending in windows}
    from_tables = _from_tables(bound.folder, opened)
    waiting = sorted({start for pending in windows for start in pending.history.waiting.start_us.tolist()})
    holes = sorted({(hole.start_us, hole.end_us) for pending in windows for hole in pending.history.missing})
    now_us = clock_us() if now_us is None else now_us
    states = batch_states(bound, now_us, windows=windows, airflow_runs=airflow_runs)
    last = [window.last for window in from_tables.windows]
    newest = [None if start is None else instant_us(start, "batch") for start in last]
    return replace(
        from_tables,
        states=states,
        redefined=tuple(other_windows(bound)),
        fresh=freshness(pipeline.fresh_within_us, newest, pipeline.intervals, now_us),
        waiting=tuple(map(from_us, waiting)),
        missing=tuple((from_us(a), from_us(b)) for a, b in holes),
        sinks=tuple(standings(bound)),
        unsettled=tuple(unsettled(bound.folder)),
        changed=changed_batches(bound, None, from_us(now_us)) if compared else None,
    )


def changed_batches(
    bound: Bound, intervals: Sequence[Interval] | None, now: datetime
) -> tuple[datetime, ...]:
    """The starts of the batches that have changed at the source, as far as a run of some intervals looks;
    None: of all.
    """
    past = changed_past(bound, intervals, now)
    changed = {*past.why, *past.sources.waiting, *past.sources.unreadable}
    return tuple(from_us(each.start_us) for each in sorted(changed))


def _from_tables(folder: AnyPath, opened: dict[str, tuple[int | None, int | None]]) -> PipelineStatus:
    """The status as the tables tell.

    `opened`: window -> the earliest start of an open window, and their number, if known.
    """
    store = DeltaStore(folder)
    tables = [f"frames/{table.name}" for table in folders_in(folder / "frames")]
    batches = Batches.joined(
        [batches_of(folder / table, store.snapshot(table).files, int) for table in tables]
    )
    names = [*opened] or windows_of(store)
    return PipelineStatus(
        folder.parent.name,
        folder.name,
        len(np.unique(batches.start_us)),
        sum(file.rows for file in store.snapshot(QUARANTINE).files),
        tuple(_window(store, name, batches, opened) for name in names),
        None,
        None,
        tuple(stagings(folder)),
        last_recorded_at(store),
        standing(folder),
        sum(size for _, size, _ in sizes_below(folder)),
        sum(1 for _ in (folder / "alerts" / "unsent").glob("[!.]*.json*")),  # messages of a listener
        _expired_to(batches),
        _expired_to(batches_of(folder / QUARANTINE, store.snapshot(QUARANTINE).files, int)),
        _moment(expired_before(store.snapshot(TABLE).files)),
        unforgotten=len(forgotten(folder.parent).open),
    )


def _window(
    store: Store, name: str, batches: Batches, opened: dict[str, tuple[int | None, int | None]]
) -> WindowStatus:
    now = published(store, name)
    entries = now.ledger.entries if now.ledger else no_entries()
    watermark_us = (
        int(entries.watermark_us[-1]) if len(entries) and entries.watermark_us[-1] > BEFORE_ALL // 2 else None
    )
    noted = int(entries.open_us[-1]) if len(entries) and entries.open_us[-1] < AFTER_ALL else None
    since, count = opened.get(name, (noted, None))
    at = entries.position(batches.start_us)
    is_in_ledger = (at >= 0) & (np.append(entries.version, np.uint64(0))[at] == batches.version)
    return WindowStatus(
        name,
        from_us(int(entries.start_us[0])) if len(entries) else None,
        from_us(int(entries.start_us[-1])) if len(entries) else None,
        len(entries),
        int(entries.published.sum()),
        latest_end(folder_of(store.root, now.table), now.snapshot),
        _moment(watermark_us),
        _moment(since),
        int(entries.late.sum()),
        int(entries.missed.sum()),
        len(np.setdiff1d(batches.start_us, batches.start_us[is_in_ledger])),
        _moment(expired_before(now.snapshot.files)),
        count,
        version if (version := current(store, name).snapshot.version) >= 0 else None,
        int(entries.correcting.sum()),
    )


def _expired_to(batches: Batches) -> datetime | None:
    return from_us(int(batches.end_us[batches.expired].max())) if batches.expired.any() else None


def _moment(us: int | None) -> datetime | None:
    return None if us is None else from_us(us)
