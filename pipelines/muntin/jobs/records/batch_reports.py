"""The reports of batches: what was read of them, from the table of reports, and what became of them, from the
ledgers.

Batches of which more than a tenth is in the quarantine: their share, and why most of the rows were
refused.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from muntin.definition.instants import from_us, instant_us
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import StateError
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.reports import COUNTED, BatchReport, Counts
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BATCH
from muntin.states.frames import Ints
from muntin.store.paths import QUARANTINE
from muntin.store.reading import read_files
from muntin.store.shared_files import within
from muntin.timeline.ledger import Entries


def batch_reports(
    bound: Bound, intervals: Sequence[Interval], changed: Mapping[int, bool] | None = None
) -> list[BatchReport]:
    """The report of each batch, from the reports table and the ledgers as they are now."""
    read = last_accumulated(bound.store, intervals)
    starts = np.array([interval.start_us for interval in intervals], np.int64)
    ledgers = {
        name: _reported(now.ledger.entries, starts)
        for name in bound.windows
        if (now := published(bound.store, name)).ledger
    }
    asked = (
        [name for name, window in bound.windows.items() if window.having is not None],
        [name for name, window in bound.windows.items() if window.lateness_us],
    )
    entries_by_window = [
        {name: entry for name, entries in ledgers.items() if (entry := entries[at])}
        for at in range(len(intervals))
    ]
    reports = [
        _report(
            interval, read[interval.start_us], entries, (changed or {}).get(interval.start_us, False), *asked
        )
        for interval, entries in zip(intervals, entries_by_window, strict=True)
        if interval.start_us in read
    ]
    much = refusals(
        bound, {start: (each["rows_read"], each["rows_quarantined"]) for start, each in read.items()}
    )
    return (
        [replace(each, refusals=much.get(instant_us(each.interval_start, "start"), "")) for each in reports]
        if much
        else reports
    )


@dataclass(frozen=True, slots=True)
class _Reported:
    """The part of a batch's report that a ledger has; see `Entries`."""

    watermark_us: int
    windows: int
    missed: int
    late_any: int
    correcting: int
    hidden: int


def _reported(entries: Entries, starts: Ints) -> list[_Reported | None]:
    """The part of the batches' reports that a ledger has; None of a batch that it does not know."""
    at = entries.position(starts)
    columns = (
        column[at].tolist()
        for column in (
            entries.watermark_us,
            entries.windows,
            entries.missed,
            entries.late_any,
            entries.correcting,
            entries.hidden,
        )
    )
    return [
        _Reported(*facts) if is_in_ledger else None
        for is_in_ledger, *facts in zip((at >= 0).tolist(), *columns, strict=True)
    ]


def _report(
    interval: Interval,
    read: Mapping[str, Any],
    entries: Mapping[str, _Reported],
    changed: bool,  # noqa: FBT001
    hiding: Sequence[str],
    revised: Sequence[str],
) -> BatchReport:
    """`hiding`: the windows with a `having`; `revised`: with `allowed_lateness`."""
    watermarks_us = [entry.watermark_us for entry in entries.values() if entry.watermark_us > -(2**61)]
    return BatchReport(
        from_us(interval.start_us),
        from_us(interval.end_us),
        **{name: read[name] for name in COUNTED},
        rows_late=max((entry.late_any for entry in entries.values()), default=0),
        windows_closed={name: entry.windows for name, entry in entries.items()},
        watermark=from_us(max(watermarks_us)) if watermarks_us else None,
        windows_missed={name: entry.missed for name, entry in entries.items()},
        source_changed=changed,
        sources={name: Counts(**rows) for name, rows in json.loads(read["sources"] or "{}").items()},
        windows_hidden={name: entries[name].hidden for name in hiding if name in entries},
        rows_correcting={name: entries[name].correcting for name in revised if name in entries},
    )


_MUCH = 0.1


def refusals(bound: Bound, counts: Mapping[int, tuple[int, int]]) -> dict[int, str]:
    """Start of a batch -> its share of refused rows and their most frequent reason, in words, where that is
    more than a tenth.

    `counts`: start of a batch -> the rows that were read and the rows that were refused. The reason of rows
    that have expired is unknown.
    """
    much = {start: each for start, each in counts.items() if each[1] > _MUCH * each[0]}
    if not much:
        return {}
    starts = sorted(much)
    reasons = {start: Counter[str]() for start in starts}
    with suppress(StateError):  # repair says that a file is gone or damaged
        table = bound.store.snapshot(QUARANTINE)
        files = tuple(file for file in table.files if len(within(np.array(starts, np.int64), file.path)))
        rows = read_files(bound.table(QUARANTINE), replace(table, files=files), [BATCH, "reason"])
        for start, reason in zip(
            rows[BATCH].cast("int64").to_pylist(), rows["reason"].to_pylist(), strict=True
        ):
            if start in reasons:
                reasons[start][reason] += 1
    return {
        start: spelled_share(*each) + _main(reasons.get(start, Counter())) for start, each in much.items()
    }


def spelled_share(read: int, refused: int) -> str:
    """The share of refused rows, in words.

    >>> spelled_share(10, 4)
    '4 of 10 rows (40.00%) are in the quarantine'
    """
    return f"{refused:,} of {many(read, 'row')} ({refused / read:.2%}) are in the quarantine"


def _main(reasons: Counter[str]) -> str:
    if not reasons:
        return ""
    reason, count = min(reasons.most_common(), key=lambda one: (-one[1], one[0]))
    return f": {reason}" + (
        "" if len(reasons) == 1 else f" ({count:,} rows, and {many(len(reasons) - 1, 'other reason')})"
    )
