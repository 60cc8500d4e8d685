"""What a look at earlier batches asks of an object store: a listing for each thousand keys, and nothing of a single batch."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from muntin import Limits, Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.files.paths import path_of
from muntin.jobs.inputs.changed_files import changed_files
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.case_counts import at_length
from tests.end_to_end.hourly import HOUR, START


@contextmanager
def counted(port: int) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that hands requests on to another, and the requests."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def hand_on(self) -> None:
            requests.append(f"{self.command} {self.path}")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in {"connection", "accept-encoding"}}
            asked = Request(f"http://127.0.0.1:{port}{self.path}", body or None, headers, method=self.command)
            try:
                answer = urlopen(asked)  # noqa: S310 - of this machine
            except HTTPError as wrong:
                answer = wrong
            with answer:
                content = answer.read()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name.lower() not in {"connection", "transfer-encoding", "content-length", "server", "date"}:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)) if self.command != "HEAD" else answer.headers["Content-Length"] or "0")
                self.end_headers()
                self.wfile.write(content)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = hand_on  # noqa: N815 - names of the base class

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


@pytest.mark.parametrize("batches", [120, pytest.param(2_300, marks=at_length)])
def test_an_object_store_is_listed_once_for_a_thousand_keys(
    tmp_path: Path, s3_bucket: str, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    for at in range(batches):
        begin = START + at * HOUR
        path_of(s3_bucket, f"data/dt={begin:%Y-%m-%d}", f"{begin:%H}.csv").write_bytes(f"at,x\n{begin:%Y-%m-%dT%H:%M:%SZ},1\n".encode())
    pipeline = Pipeline(
        name="clicks",
        source=sources.files(f"{s3_bucket}/data/dt={{start:%Y-%m-%d}}/{{start:%H}}.csv", event_time="at"),
        schedule="1h",
        start=START,
        windows={"day": windows.tumbling("1d")},
        aggregates={"n": agg.count()},
        limits=Limits(settle_after=0),
    )
    run(pipeline, root=tmp_path, start=START, end=START + batches * HOUR, spark=Local(2))
    with counted(int(os.environ["AWS_ENDPOINT_URL"].rpartition(":")[2])) as (address, requests):
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        assert changed_files(bind(pipeline, tmp_path), None).why == {}
    assert [each.partition("?")[0].partition(" ")[0] for each in requests] == ["GET"] * -(-batches // 1000), requests
    assert all("list-type=2" in each for each in requests)
