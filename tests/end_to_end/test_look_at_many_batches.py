"""What a look at earlier batches asks of an object store: a listing for each thousand keys, and nothing of a single batch."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pyarrow as pa
import pytest

from muntin import Limits, Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.files.paths import path_of
from muntin.jobs.inputs.changed_files import changed_files
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.case_counts import at_length
from tests.end_to_end.hourly import HOUR, START
from tests.tables.delta_tables import append


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The requests to the object store from here on: a server hands them on."""
    requests, port = list[str](), os.environ["AWS_ENDPOINT_URL"].rpartition(":")[2]

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
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        yield requests
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
    with counted(monkeypatch) as requests:
        assert changed_files(bind(pipeline, tmp_path), None).why == {}
    assert [each.partition("?")[0].partition(" ")[0] for each in requests] == ["GET"] * -(-batches // 1000), requests
    assert all("list-type=2" in each for each in requests)


def test_the_log_of_a_table_is_listed_and_each_commit_is_read_once(s3_bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({"at": pa.array([START], pa.timestamp("us", "UTC"))})
    for at in range(3):
        append(f"{s3_bucket}/table", rows, START + at * HOUR)
    with counted(monkeypatch) as requests:
        for _ in range(2):
            assert len(sources.table(f"{s3_bucket}/table", event_time="at").log().made_us) == 3
    assert sorted(each.partition(" ")[0] + ("" if "list-type" in each else " of a commit") for each in requests) == [
        *["GET"] * 2,
        *["GET of a commit"] * 3,
    ], requests
