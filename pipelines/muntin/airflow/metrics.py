"""Metrics to Airflow's own: StatsD, Datadog or OpenTelemetry, as `[metrics]` of its configuration says."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muntin.jobs.records.metrics import Metric

log = logging.getLogger("muntin")


def record(metrics: Callable[[], Sequence[Metric]]) -> None:
    """Send metrics; whatever goes wrong is a line of the task's log: no task fails by it."""
    try:
        for each in metrics():
            _send(each)
    except Exception as wrong:  # noqa: BLE001 - windows go before figures about them
        log.warning("metrics: not recorded: %s: %s", type(wrong).__name__, wrong)


def _send(metric: Metric) -> None:
    """Send a metric with labels; and, as Airflow does for its own, under a name that holds them, for receivers that know no labels."""
    from airflow.sdk.configuration import conf
    from airflow.sdk.observability import stats

    from muntin.jobs.records.metrics import KINDS

    send = stats.incr if KINDS[metric.name].type == "counter" else stats.gauge
    send(metric.name, metric.value, tags=metric.labels)
    if conf.getboolean("metrics", "legacy_names_on", fallback=True):
        parts = (stats.normalize_name_for_stats(part, log_warning=False).replace(".", "__") for part in metric.labels.values())
        send(".".join([metric.name, *parts]), metric.value)
