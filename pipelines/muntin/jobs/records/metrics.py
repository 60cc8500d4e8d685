"""Metrics of a run and of a state: by name, with units, for each pipeline, each of its windows or each state
of batches.

Metrics to OpenTelemetry, where there is a listener: a program that uses OpenTelemetry itself, or the
command line.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from muntin.definition.instants import BEFORE_ALL, instant_us
from muntin.definition.time_limits import Freshness, freshness
from muntin.jobs.published.window_tables import published

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muntin.jobs.records.batch_states import State
    from muntin.jobs.records.reports import Accumulated, BatchReport
    from muntin.jobs.state.bound import Bound

_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of metric: a counter adds up over runs, a gauge holds the last value.

    Attributes:
        type: counter or gauge.
        unit: as OpenTelemetry writes units.
        about: what is counted, in a line.
    """

    type: Literal["counter", "gauge"]
    unit: str
    about: str


KINDS = {
    "muntin.rows_read": Kind("counter", "{row}", "rows in the files of the batches that were read"),
    "muntin.rows_quarantined": Kind("counter", "{row}", "rows that were refused"),
    "muntin.rows_late": Kind("counter", "{row}", "rows that came too late for at least one window"),
    "muntin.rows_correcting": Kind(
        "counter", "{row}", "rows that revised windows that were published, and missed none"
    ),
    "muntin.windows_published": Kind(
        "counter", "{window}", "windows that were published, those of a batch that was read again too"
    ),
    "muntin.lag": Kind("gauge", "s", "from the watermark of what is published to now"),
    "muntin.batches": Kind(
        "gauge",
        "{batch}",
        "batches by state: missing, queued, running, failed, held, read, waiting, published, corrected",
    ),
    "muntin.fresh": Kind("gauge", "1", "1 if batches are published as soon as `fresh_within` asks, else 0"),
}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its value.

    `window`: None for a metric of the pipeline; `state`: of batches, where they are counted.
    """

    name: str
    value: float
    pipeline: str
    window: str | None = None
    state: State | None = None

    @property
    def labels(self) -> dict[str, str]:
        """The pipeline, the window and the state of the value."""
        return {name: label for name in ("pipeline", "window", "state") if (label := getattr(self, name))}


def of_reading(pipeline: str, batches: Sequence[Accumulated]) -> list[Metric]:
    """The metrics of reading, of batches that are in the states now."""
    return [
        Metric("muntin.rows_read", sum(batch.counts.read for batch in batches), pipeline),
        Metric("muntin.rows_quarantined", sum(batch.counts.quarantined for batch in batches), pipeline),
    ]


def of_publishing(
    name: str, reports: Sequence[BatchReport], own: Sequence[int], starts: Mapping[str, Sequence[int]]
) -> list[Metric]:
    """The metrics of publishing. `reports`: of all batches whose windows were published, and of the batches
    that the run has read.

    `own`: starts of the batches that the run has read: their late rows count. `starts`: window -> starts of
    the batches published.
    """
    by_start = {instant_us(report.interval_start, "start"): report for report in reports}
    own_reports = [by_start[start] for start in own if start in by_start]
    metrics = [Metric("muntin.rows_late", sum(each.rows_late for each in own_reports), name)]
    revised = dict.fromkeys(window for each in own_reports for window in each.rows_correcting)
    metrics += [
        Metric(
            "muntin.rows_correcting",
            sum(each.rows_correcting.get(window, 0) for each in own_reports),
            name,
            window,
        )
        for window in revised
    ]
    for window, published_starts in starts.items():
        reports_of_window = [by_start[start] for start in published_starts if start in by_start]
        there = sum(
            each.windows_closed.get(window, 0) - each.windows_hidden.get(window, 0)
            for each in reports_of_window
        )
        metrics.append(Metric("muntin.windows_published", there, name, window))
    return metrics


def of_state(bound: Bound, now_us: int) -> list[Metric]:
    """The metrics of what is there, whoever ran it: lags, batches by state, and whether `fresh_within` is met
    where it is asked for.
    """
    from muntin.jobs.records.batch_status import batch_states

    name, lags, states = bound.pipeline.name, _lags(bound, now_us), batch_states(bound, now_us)
    metrics = [
        *lags,
        *(Metric("muntin.batches", count, name, state=state) for state, count in states.counts.items()),
    ]
    fresh = of_pipeline(bound, now_us)
    return [*metrics, Metric("muntin.fresh", int(fresh.met), name)] if fresh else metrics


def of_pipeline(bound: Bound, now_us: int) -> Freshness | None:
    """How far what is published is from `fresh_within`; None: the definition has no target."""
    ledgers = (published(bound.store, window).ledger for window in bound.windows)
    newest = (int(each.entries.start_us[-1]) if each and len(each.entries) else None for each in ledgers)
    return freshness(bound.pipeline.fresh_within_us, newest, bound.pipeline.intervals, now_us)


def _lags(bound: Bound, now_us: int) -> list[Metric]:
    ledgers = {
        window: ledger for window in bound.windows if (ledger := published(bound.store, window).ledger)
    }
    return [
        Metric("muntin.lag", (now_us - watermark_us) / _SECOND_US, bound.pipeline.name, window)
        for window, ledger in ledgers.items()
        for watermark_us in ledger.entries.watermark_us[-1:].tolist()
        if watermark_us > BEFORE_ALL // 2
    ]


_METER: ContextVar[Any] = ContextVar("meter", default=None)
_API = "opentelemetry.metrics"
log = logging.getLogger("muntin")


@contextmanager
def to_meter(meter: Any) -> Iterator[None]:  # noqa: ANN401 - OpenTelemetry's
    """Send the metrics of what runs inside to a meter."""
    before = _METER.set(meter)
    try:
        yield
    finally:
        _METER.reset(before)


def record(metrics: Callable[[], Sequence[Metric]]) -> None:
    """Send metrics to the meter of this context, else to the program's own OpenTelemetry, if it has loaded
    that.

    They are worked out only where there is a listener. Whatever goes wrong is a line of the log: no run fails
    by it.
    """
    try:
        if (meter := _METER.get() or _of_program()) is not None:
            for each in metrics():
                instrument = _instrument(meter, each.name)
                (instrument.add if KINDS[each.name].type == "counter" else instrument.set)(
                    each.value, each.labels
                )
    except Exception as wrong:  # noqa: BLE001 - windows go before figures about them
        log.warning("metrics: not recorded: %s: %s", type(wrong).__name__, wrong)


def _of_program() -> Any:  # noqa: ANN401 - OpenTelemetry's
    return sys.modules[_API].get_meter("muntin") if _API in sys.modules else None


@lru_cache(maxsize=64)
def _instrument(meter: Any, name: str) -> Any:  # noqa: ANN401 - OpenTelemetry's
    kind = KINDS[name]
    create = meter.create_counter if kind.type == "counter" else meter.create_gauge
    return create(name, unit=kind.unit, description=kind.about)
