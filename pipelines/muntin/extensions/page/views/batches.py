"""The batches of a pipeline, a page at a time, each with its state and its report.

The trends of a week, as pictures: name, unit, and a bar for each batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.extensions.page.views.held import Around
from muntin.extensions.page.views.seen import Seen
from muntin.extensions.page.views.tables import ROWS
from muntin.extensions.page.views.trends import Week, listed_batches, with_states
from muntin.jobs.published.pending import pending_window
from muntin.jobs.records.batch_reports import batch_reports
from muntin.jobs.records.batch_states import BatchState, Stretch, stretches
from muntin.jobs.records.batch_status import BatchStates, batch_states
from muntin.jobs.records.reports import BatchReport
from muntin.states.frames import Ints

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


@dataclass(frozen=True, slots=True)
class Trend:
    """A picture of the week: its bars, one or two values each, by name."""

    name: str
    unit: str
    start_us: Ints
    end_us: Ints
    values: dict[str, np.ndarray]


def trends(last_week: Week | None) -> list[Trend]:
    """The trends of a week; nothing before the first publication."""
    if last_week is None:
        return []
    lag_s, sums = last_week.lag_s, last_week.sums
    longest = float(np.nanmax(lag_s, initial=0))
    scales = ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min"))
    size, unit = next((each for each in scales if longest >= 2 * each[0]), (1, "s"))
    most = float(max(sums["bytes_read"].max(), sums["bytes_written"].max()))
    scales = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
    big, bytes_unit = next((each for each in scales if most >= each[0]), (1, "B"))
    asked = [
        ("rows read", "", {"": sums["rows_read"]}),
        ("late rows", "", {"": sums["rows_late"]}),
        ("quarantined rows", "", {"": sums["rows_quarantined"]}),
        ("lag at publication", unit, {"": lag_s / size}),
        ("seconds of runs", "s", {"by the clock": sums["seconds"], "CPU": sums["cpu_seconds"]}),
        (
            "bytes of runs",
            bytes_unit,
            {"read": sums["bytes_read"] / big, "written": sums["bytes_written"] / big},
        ),
    ]
    return [Trend(name, unit, last_week.start_us, last_week.end_us, values) for name, unit, values in asked]


_STRETCHES = 30


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A batch or missing interval, with its state; report None if no run recorded one."""

    one: BatchState
    report: BatchReport | None


@dataclass(frozen=True, slots=True)
class BatchTable:
    """Some batches, the newest first; `more`: how many of the newest the next page leaves out."""

    windows: tuple[str, ...]
    rows: tuple[BatchRow, ...]
    total: int
    more: int | None


def states_of(at: Seen, now_us: int, around: Around) -> BatchStates:
    """The states of the batches of a pipeline."""
    return batch_states(at.bound, now_us, airflow_runs=around.of(at.name))


def batch_table(at: Seen, skip: int, states: BatchStates) -> BatchTable:
    """A page of the batches."""
    every = listed_batches(pending_window(at.bound, next(iter(at.pipeline.windows))), states)
    some = every[max(0, len(every) - skip - ROWS) : len(every) - skip] if skip < len(every) else []
    reports = batch_reports(at.bound, [Interval(start, end) for start, end in some])
    by_start = {instant_us(report.interval_start, "batch"): report for report in reports}
    rows = tuple(BatchRow(each, by_start.get(each.start_us)) for each in reversed(with_states(some, states)))
    more = skip + ROWS
    return BatchTable(tuple(at.pipeline.windows), rows, len(every), more if more < len(every) else None)


def newest_first(states: BatchStates | None) -> list[Stretch]:
    """The stretches of batches to show at a glance, the newest first."""
    return stretches(states.listed)[::-1][:_STRETCHES] if states else []
