"""The week of a pipeline: rows, late rows, quarantined rows, lag, seconds and bytes of its newest batches,
from the reports.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from muntin.definition.instants import from_us
from muntin.jobs.records.report_files import bounds_of, telling_of
from muntin.jobs.records.reports_table import TABLE
from muntin.store.reading import read_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints

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
    """

    start_us: Ints
    end_us: Ints
    sums: Mapping[str, np.ndarray]
    lag_s: np.ndarray
    batches: int


def week(bound: Bound) -> Week | None:
    """The week of a pipeline; None before the first publication."""
    snapshot = bound.store.snapshot(TABLE)
    newest_us = max((bounds[1] for file in snapshot.files if (bounds := bounds_of(file))), default=None)
    if newest_us is None:
        return None
    files = telling_of(snapshot.files, newest_us - WEEK_US, newest_us)
    condition = (ds.field("step") == "publish") & (ds.field("batch") > from_us(newest_us - WEEK_US))
    table = read_files(
        bound.store.root / TABLE, replace(snapshot, files=files), ["batch", "recorded_at", *SUMMED], condition
    )
    return _week(bound, _by_batch(table)) if len(table) else None


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


def _week(bound: Bound, table: pa.Table) -> Week:
    starts = table["batch"].to_numpy()
    ends = np.array([bound.pipeline.intervals.after(start) for start in starts.tolist()], np.int64)
    lag_us = table["recorded_at_min"].to_numpy() - ends
    lag_s = np.where(lag_us <= WEEK_US, lag_us / 1e6, np.nan)
    bar = _bars(starts)
    first = np.flatnonzero(np.append(True, bar[1:] != bar[:-1]))
    columns = {name: pc.fill_null(table[name], 0).to_numpy() for name in SUMMED}
    sums = {name: np.add.reduceat(column, first) for name, column in columns.items()}
    return Week(
        starts[first],
        ends[np.append(first[1:], len(ends)) - 1],
        sums,
        np.fmax.reduceat(lag_s, first),
        len(starts),
    )


def _bars(starts: Ints) -> Ints:
    """The bar of each batch: its own, or of all batches that start within the same hours."""
    if len(starts) <= MOST:
        return starts
    hours = -(-WEEK_US // _HOUR_US // MOST) or 1
    return starts // (hours * _HOUR_US)
