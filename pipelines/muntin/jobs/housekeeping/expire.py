"""Expiry: rows of old batches go, as the definition's `retain` says.

    batches      0 ... 99 | 100 ... 119 | 120 ... 499       `retain` is 400 batches
                 gone     | behind      | kept

Rows go once an eighth more than `retain` has gathered, so that a run seldom writes for it; `maintain` does
not wait. States and refused rows leave the facts of their batches in place: history stays whole.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import ConflictError, StateError
from muntin.jobs.housekeeping.compact import MANY, Unit, units
from muntin.jobs.published.pending import Pending, accumulated, expired_to, pending_windows
from muntin.jobs.published.window_files import MOST_BATCHES, windows_from
from muntin.jobs.published.window_tables import published
from muntin.jobs.records import reports_table, verdicts
from muntin.jobs.records.report_files import bounds_of, write_reports
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.given_spans import as_published
from muntin.states.columns import BATCH
from muntin.states.derived_columns import whole_schema
from muntin.states.frames import Ints
from muntin.store.batch_facts import batches_of
from muntin.store.contents import check_whole
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE, batches_of_windows
from muntin.store.reading import read_files, read_states
from muntin.store.shared_files import write_shared
from muntin.store.store import Change, File, Snapshot, Store
from muntin.store.tier_files import marks, write_mark
from muntin.timeline.batches import Batches
from muntin.timeline.history import as_if_replaced, expirable, first_retained
from muntin.timeline.reconcile import open_when, reconcile

_EIGHTH = 8
_log = logging.getLogger("muntin")


def expire(bound: Bound, *, at_once: bool = False) -> str | None:
    """Take old rows out of one table, if some are due; return its name. What stands in the way is no error: a
    later run does it.

    `at_once`: all rows behind `retain` go; else the rows of files that have gathered, and most of whose rows
    are behind.
    """
    if not bound.pipeline.retention:
        return None
    try:
        for due in _due(bound, at_once=at_once):
            bound.store.commit(due.table, due.base, due.change)
            return due.table.removeprefix("../")
    except (ConflictError, StateError, OSError) as wrong:
        _log.warning(
            "%s: old rows were not removed (%s); a later run tries again", bound.pipeline.name, wrong
        )
    return None


def _due(bound: Bound, *, at_once: bool) -> Iterator[_Expiring]:
    """The commits that are due, one for a table."""
    retention, lag = bound.pipeline.retention, 0 if at_once else 1
    if retention.states_us and _has_gathered(bound, bound.frame_sets[0].table, retention.states_us, lag):
        windows = pending_windows(bound, [])
        for frames in bound.frame_sets:
            own = [pending for pending in windows if pending.window in frames.windows]
            starts = [{*_expirable_of(bound, each, retention.states_us).tolist()} for each in own]
            gone = np.array(sorted(set.intersection(*starts)), np.int64)
            # more may be old than may go: long windows need it
            if len(gone) and gone[-1] - gone[0] >= lag * retention.states_us // _EIGHTH:
                yield from _without_rows(bound, frames.table, gone, at_once=at_once)
    if retention.states_us and bound.pipeline.lookups:
        met, states = accumulated(bound, LOOKED_UP), _all(bound)
        gone = np.intersect1d(met.start_us[~met.expired & (met.rows > 0)], states.start_us[states.expired])
        yield from _without_rows(bound, LOOKED_UP, gone, at_once=at_once)
    if (
        retention.states_us
        and bound.source.dedupe_within_us is not None
        and bound.pipeline.limits.max_behind_us is not None
    ):
        yield from _without_rows(bound, IDS, _ids_out_of_reach(bound), at_once=at_once)
    if retention.refused_us and _has_gathered(bound, QUARANTINE, retention.refused_us, lag):
        batches = _all(bound)
        yield from _without_rows(
            bound,
            QUARANTINE,
            batches.start_us[: first_retained(batches, retention.refused_us)],
            at_once=at_once,
        )
    if retention.windows_us:
        for name in bound.windows:
            yield from _without_windows(bound, name, retention.windows_us, lag)
    reports_us = retention.reports_us or 0
    for table in (reports_table.TABLE, verdicts.TABLE) if reports_us else ():
        yield from without_reports(bound.store, table, _newest(bound) - reports_us, reports_us, lag)


def _has_gathered(bound: Bound, table: str, kept_us: int, lag: int) -> bool:
    """Whether the oldest rows of a table of batches are so old that they go."""
    batches, newest_us = accumulated(bound, table), _newest(bound)
    oldest = batches.end_us[~batches.expired & (batches.rows > 0)].min(initial=newest_us)
    return bool(oldest <= newest_us - kept_us - lag * kept_us // _EIGHTH)


def _all(bound: Bound) -> Batches:
    return accumulated(bound, bound.frame_sets[0].table)


def _newest(bound: Bound) -> int:
    return int(_all(bound).end_us.max(initial=0))


def _expirable_of(bound: Bound, pending: Pending, kept_us: int) -> Ints:
    batches, name = pending.history.batches, pending.window
    position = min(first_retained(batches, kept_us), len(batches) - 1)
    if position <= 0:
        return batches.start_us[:0]
    window, width_us = bound.windows[name], bound.frames_of(name).width_us
    replaced = as_if_replaced(batches, position)
    was = as_published(bound, name, pending.sound_ledger)
    work = reconcile(
        window,
        width_us,
        replaced,
        pending.watermarks_us,
        pending.sound_ledger if was else None,
        bound.derivation(name),
        was,
    )
    works = [work, pending.work, open_when(window, width_us, pending.watermarks_us, position)]
    return batches.start_us[expirable(batches, position, [each for each in works if each])]


def _ids_out_of_reach(bound: Bound) -> Ints:
    """Starts of batches whose ids can be dropped: no batch that may be read again can repeat them."""
    batches = accumulated(bound, IDS)
    behind_us = bound.pipeline.limits.max_behind_us or 0
    reach_us = expired_to(bound) - behind_us - (bound.source.dedupe_within_us or 0)
    return batches.start_us[~batches.expired & (batches.rows > 0) & (batches.high_us < reach_us)]


def _without_rows(bound: Bound, table: str, gone: Ints, *, at_once: bool) -> Iterator[_Expiring]:
    """Files of a table of batches that leave the rows of some batches out."""
    if not len(gone):
        return
    base, folder, after = bound.store.snapshot(table), bound.table(table), bound.pipeline.intervals.after
    old = [unit for unit in units(bound, table) if unit.first_us <= gone[-1]]
    facts = [batches_of(folder, unit.files, after) for unit in old]
    going = [np.isin(each.start_us, gone) & ~each.expired for each in facts]
    whole = [
        at
        for at, (each, these) in enumerate(zip(facts, going, strict=True))
        if these.any() and (these | each.expired).all()
    ]
    left = [int((~each.expired).sum()) for each in facts]
    parts = [
        at
        for at, these in enumerate(going)
        if at not in whole and these.any() and (at_once or these.sum() * 2 >= left[at])
    ]
    if chosen := _fitting(old, whole) or parts[:1]:
        files = [file for at in chosen for file in old[at].files]
        rows = (base.schema or pa.schema([])).empty_table()
        if chosen[0] not in whole:
            check_whole(folder, files)
            rows = read_states(folder, replace(base, files=tuple(files)))
            rows = rows.filter(pc.invert(pc.is_in(rows[BATCH].cast(pa.int64()), pa.array(gone))))
        batches = Batches.joined([facts[at].expiring(going[at]) for at in chosen])
        new = write_shared(rows, folder, batches, bound.pipeline.keys)
        yield _Expiring(table, base, Change(whole_schema(rows.schema), [new], files, []))


def _fitting(all_units: Sequence[Unit], whole: Sequence[int]) -> Sequence[int]:
    """The first units that fill a file."""
    count = int(
        np.searchsorted(np.cumsum([all_units[at].batches for at in whole]), MOST_BATCHES, side="right")
    )
    return whole[: min(MANY, max(count, 1))]


def _without_windows(bound: Bound, name: str, kept_us: int, lag: int) -> Iterator[_Expiring]:
    """The files of a table of windows that leave out the windows that old batches closed."""
    now = published(bound.store, name)
    starts, schema, folder = now.starts, now.snapshot.schema, bound.table(now.table)
    if not len(starts) or schema is None:
        return
    ends = np.append(starts[1:], bound.pipeline.intervals.after(int(starts[-1])))
    before_us = int(
        starts[min(int(np.searchsorted(ends, ends[-1] - kept_us, side="right")), len(starts) - 1)]
    )
    held = [(file, span) for file in now.snapshot.files if (span := batches_of_windows(file.path))]
    chosen = _chosen_of([(file, *span) for file, span in held], before_us, kept_us, lag)
    if chosen:
        rest = windows_from(folder, chosen, before_us, bound.keys_of(name))
        mark = write_mark(folder, schema, before_us)
        yield _Expiring(
            now.table,
            now.snapshot,
            Change(schema, [*rest, mark], [*chosen, *_other_marks(now.snapshot, mark)], []),
        )


def without_reports(store: Store, table: str, before_us: int, kept_us: int, lag: int) -> Iterator[_Expiring]:
    """The files of the table of reports, or of verdicts, without rows of batches that start before an
    instant; an expiry mark says so of reports.
    """
    base, folder, of_reports = store.snapshot(table), store.root / table, table == reports_table.TABLE
    named = [(file, *ends) for file in base.files if (ends := bounds_of(file))]
    chosen = _chosen_of(named, before_us, kept_us, lag)
    if not chosen or not base.schema:
        return
    rows = read_files(folder, replace(base, files=tuple(chosen)))
    times = rows[BATCH].cast(pa.int64()) if of_reports else verdicts.batches_of(rows)
    rows = rows.filter(pc.greater_equal(times, before_us)).sort_by(BATCH if of_reports else "recorded_at")
    new = [(write_reports if of_reports else verdicts.write_verdicts)(rows, folder)] if len(rows) else []
    if of_reports:
        mark = write_mark(folder, base.schema, before_us)
        new, chosen = [*new, mark], [*chosen, *_other_marks(base, mark)]
    yield _Expiring(table, base, Change(base.schema, new, chosen, []))


class _Expiring(NamedTuple):
    """A commit that takes old rows out of a table."""

    table: str
    base: Snapshot
    change: Change


def _chosen_of(files: Sequence[tuple[File, int, int]], before_us: int, kept_us: int, lag: int) -> list[File]:
    """The files with old rows that go now, given the starts of the first and last batch of each: files that
    lie behind, or half of it.
    """
    old = [
        (file, last, (before_us - first) / max(last - first, 1))
        for file, first, last in files
        if first < before_us
    ]
    chosen = [file for file, last, part in old if last < before_us or part * 2 >= lag]
    oldest_us = min((first for _, first, _ in files), default=before_us)
    return chosen if oldest_us <= before_us - lag * kept_us // _EIGHTH else []


def _other_marks(base: Snapshot, mark: File) -> list[File]:
    """The expiry marks of a table that a new mark replaces."""
    return [file for file in marks(base.files) if file.path != mark.path]
