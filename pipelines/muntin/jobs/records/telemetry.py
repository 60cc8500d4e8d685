"""Metrics to OpenTelemetry, where there is a listener: a program that uses OpenTelemetry itself, or the
command line.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muntin.jobs.records.metrics import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muntin.jobs.records.metrics import Metric

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
                _send(meter, each)
    except Exception as wrong:  # noqa: BLE001 - windows go before figures about them
        log.warning("metrics: not recorded: %s: %s", type(wrong).__name__, wrong)


def _of_program() -> Any:  # noqa: ANN401 - OpenTelemetry's
    return sys.modules[_API].get_meter("muntin") if _API in sys.modules else None


def _send(meter: Any, metric: Metric) -> None:  # noqa: ANN401 - OpenTelemetry's
    instrument = _instrument(meter, metric.name)
    (instrument.add if KINDS[metric.name].type == "counter" else instrument.set)(metric.value, metric.labels)


@lru_cache(maxsize=64)
def _instrument(meter: Any, name: str) -> Any:  # noqa: ANN401 - OpenTelemetry's
    kind = KINDS[name]
    create = meter.create_counter if kind.type == "counter" else meter.create_gauge
    return create(name, unit=kind.unit, description=kind.about)
