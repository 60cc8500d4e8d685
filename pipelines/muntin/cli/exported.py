"""Metrics of a command to an OTLP receiver, as the variables of OpenTelemetry name one."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

ENDPOINTS = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PATIENCE_MS = 5_000


@contextmanager
def exported() -> Iterator[None]:
    """Send the metrics of a run over OTLP/HTTP when it ends, well or not; nothing unless the environment
    names a receiver.
    """
    if not _asked():
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    except ImportError:
        print(
            "metrics: not sent: OpenTelemetry is not installed: pip install 'muntin[metrics]'",
            file=sys.stderr,
        )
        yield
        return
    from muntin.jobs.records.telemetry import to_meter

    provider = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], shutdown_on_exit=False)
    try:
        with to_meter(provider.get_meter("muntin")):
            yield
    finally:
        provider.shutdown(timeout_millis=_PATIENCE_MS)


def _asked() -> bool:
    off = (
        os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or os.environ.get("OTEL_METRICS_EXPORTER") == "none"
    )
    return not off and any(os.environ.get(name) for name in ENDPOINTS)
