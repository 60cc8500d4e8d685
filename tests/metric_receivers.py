"""Receivers of metrics on this machine: StatsD over UDP, OpenTelemetry over HTTP; of OpenLineage's events, over HTTP."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Value = tuple[str, tuple[tuple[str, str], ...]]
"""Name, and labels ascending."""


@dataclass
class Otlp:
    """What came over OTLP/HTTP: the last value of each metric, and its unit."""

    port: int = 0
    values: dict[Value, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    def take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                self.units[metric.name] = metric.unit
                for point in [*metric.sum.data_points, *metric.gauge.data_points]:
                    labels = tuple(sorted((each.key, each.value.string_value) for each in point.attributes))
                    self.values[metric.name, labels] = point.as_double if point.HasField("as_double") else point.as_int


@contextmanager
def otlp() -> Iterator[Otlp]:
    """A receiver of OTLP/HTTP, at `http://127.0.0.1:<port>`."""
    found = Otlp()
    with _posted("/v1/metrics", found.take) as found.port:
        yield found


@contextmanager
def lineage_events() -> Iterator[tuple[int, list[Any]]]:
    """A receiver of OpenLineage's events over HTTP: its port, and what came."""
    found = list[Any]()
    with _posted("/api/v1/lineage", lambda body: found.append(json.loads(body))) as port:
        yield port, found


@contextmanager
def _posted(path: str, take: Callable[[bytes], None]) -> Iterator[int]:
    """The port of a server that takes what is posted to a path."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == path
            take(body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@dataclass
class Statsd:
    """A StatsD server's socket."""

    socket: socket.socket

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    def lines(self) -> list[str]:
        """All that came, `name:value|type`."""
        found = []
        while True:
            try:
                found += self.socket.recv(65536).decode().splitlines()
            except TimeoutError:
                return found


@contextmanager
def statsd() -> Iterator[Statsd]:
    """A socket as StatsD listens on one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(0.2)
        yield Statsd(listening)
