"""The week of a pipeline: rows, late rows, quarantined rows, lag, seconds and bytes of its newest batches,
from the reports.

The batches of a pipeline in order, each with its state; and when a batch was last published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.jobs.published.pending import Pending
from muntin.jobs.records.batch_states import BatchState
from muntin.jobs.records.batch_status import BatchStates
from muntin.jobs.records.report_files import bounds_of
from muntin.jobs.records.reports_table import TABLE, read_reports
from muntin.jobs.state.bound import Bound
from muntin.states.frames import Ints
from muntin.store.store import Store


@dataclass(frozen=True, slots=True)
class ListedBatch:
    """A batch or a missing interval; instants in microseconds.

    Attributes:
        one: its state.
        watermark_us: the watermark after it; None where it is not published.
        windows, late, correcting: how many windows it closed; its rows that came too late for a window; its
            rows that revised published windows, and missed none.
    """

    one: BatchState
    watermark_us: int | None = None
    windows: int = 0
    late: int = 0
    correcting: int = 0

    @property
    def start_us(self) -> int:
        return self.one.start_us

    @property
    def end_us(self) -> int:
        return self.one.end_us


def listed_batches(todo: Pending, states: BatchStates) -> list[tuple[int, int]]:
    """(start, end) of all batches of a window's history, of the batches around it, and of the batches that
    failed before they were read, ascending.
    """
    parts = (todo.history.batches, todo.history.waiting)
    batches = {
        start: end
        for part in parts
        for start, end in zip(part.start_us.tolist(), part.end_us.tolist(), strict=True)
    }
    batches |= {hole.start_us: hole.end_us for hole in todo.history.missing}
    return sorted((batches | {each.start_us: each.end_us for each in states.listed}).items())


def with_states(some: Sequence[tuple[int, int]], states: BatchStates) -> list[BatchState]:
    """Some of `listed_batches`, each with its state."""
    listed = {each.start_us: each for each in states.listed}
    return [listed.get(start) or states.settled(start, end) for start, end in some]


def with_counts(todo: Pending, some: Sequence[BatchState]) -> list[ListedBatch]:
    """Some batches, with what the ledger tells of them."""
    entries = todo.published.ledger.entries if todo.published.ledger else None
    if entries is None:
        return [ListedBatch(each) for each in some]
    at = entries.position(np.array([each.start_us for each in some], np.int64))
    asked = (entries.watermark_us, entries.published, entries.late, entries.correcting)
    columns = (column[at].tolist() for column in asked)
    return [
        ListedBatch(each, *facts) if in_ledger else ListedBatch(each)
        for each, in_ledger, *facts in zip(some, (at >= 0).tolist(), *columns, strict=True)
    ]


def published_at(store: Store, batch_us: int | None = None) -> datetime | None:
    """When something was last published, or a report of this batch; None where no report says it."""
    span_us = None if batch_us is None else (batch_us, batch_us)
    rows = read_reports(store, ["recorded_at"], "publish", span_us)
    return pc.max(rows["recorded_at"]).as_py()  # type: ignore[no-any-return]


WEEK_US = 7 * 86_400_000_000
MOST = 200
"""So many bars; of more batches those of an hour, or of several hours, become one."""
SUMMED = (
    "rows_read",
    "rows_late",
    "rows_quarantined",
    "seconds",
    "cpu_seconds",
    "bytes_read",
    "bytes_written",
)
_HOUR_US = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Week:
    """The batches of the week that ends with the newest batch, ascending; instants in microseconds.

    Attributes:
        start_us, end_us: of each bar: a batch, or the batches of some hours.
        sums: name of a column of the reports -> its sum in each bar.
        lag_s: the longest time from the end of a batch in the bar to its first publication, seconds; NaN
            where it was more than a week: then the batch was read from the past, and its lag tells nothing.
        batches: how many batches there are in all bars.
        took_s: seconds of each batch, ascending by batch.
        usual_lag_s: the median time from the end of a batch to its first publication; None where all were
            read from the past.
    """

    start_us: Ints
    end_us: Ints
    sums: Mapping[str, np.ndarray]
    lag_s: np.ndarray
    batches: int
    took_s: np.ndarray
    usual_lag_s: float | None


def week(bound: Bound) -> Week | None:
    """The week of a pipeline; None before the first publication."""
    snapshot = bound.store.snapshot(TABLE)
    newest_us = max((bounds[1] for file in snapshot.files if (bounds := bounds_of(file))), default=None)
    if newest_us is None:
        return None
    columns, span_us = ["batch", "recorded_at", *SUMMED], (newest_us - WEEK_US + 1, newest_us)
    table = read_reports(bound.store, columns, "publish", span_us)
    if not len(table):
        return None
    table = _by_batch(table)
    starts = table["batch"].to_numpy()
    ends = np.array([bound.pipeline.intervals.after(start) for start in starts.tolist()], np.int64)
    lag_us = table["recorded_at_min"].to_numpy() - ends
    lag_s = np.where(lag_us <= WEEK_US, lag_us / 1e6, np.nan)
    hours = -(-WEEK_US // _HOUR_US // MOST) or 1
    # each batch has its own bar, or all have one that start within the same hours
    bar = starts if len(starts) <= MOST else starts // (hours * _HOUR_US)
    first = np.flatnonzero(np.append(True, bar[1:] != bar[:-1]))
    sums = {name: np.add.reduceat(pc.fill_null(table[name], 0).to_numpy(), first) for name in SUMMED}
    return Week(
        starts[first],
        ends[np.append(first[1:], len(ends)) - 1],
        sums,
        np.fmax.reduceat(lag_s, first),
        len(starts),
        pc.fill_null(table["seconds"], 0).to_numpy(),
        float(np.nanmedian(lag_s)) if np.isfinite(lag_s).any() else None,
    )


def _by_batch(table: pa.Table) -> pa.Table:
    """A row for each batch: the rows of its newest report, what all of its runs cost, and its first
    publication.
    """
    for name in ("batch", "recorded_at"):
        table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.int64()))
    rows, costs = SUMMED[:3], SUMMED[3:]
    asked = [("recorded_at", "min"), *((name, "last") for name in rows), *((name, "sum") for name in costs)]
    rows_by_batch = (
        table.sort_by("recorded_at").group_by("batch", use_threads=False).aggregate(asked).sort_by("batch")
    )
    return rows_by_batch.rename_columns(
        [name.removesuffix("_last").removesuffix("_sum") for name in rows_by_batch.column_names]
    )
