"""A server of S3 in Python, for tests where versitygw is not built: it keeps all in memory, and knows no wrong credentials.

`python -m tests.moto_server PORT`, of the Python in build/moto, is the server. It answers one request after the other, since moto looks
whether an object is new and writes it in two steps.
"""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

from tests.s3_server import S3Server
from tests.servers import free_port, wait_for

HOME = Path(__file__).parents[1] / "build/moto"


class MotoServer(S3Server):
    """With nothing in it at first."""

    def new_bucket(self) -> str:
        """The address of a bucket without anything in it."""
        name = f"bucket-{uuid4().hex[:12]}"
        with urlopen(Request(f"http://127.0.0.1:{self.port}/{name}", method="PUT")) as answer:
            assert answer.status == 200
        return f"s3://{name}"


@contextmanager
def started() -> Iterator[MotoServer]:
    """A server with nothing in it."""
    server = MotoServer(free_port())
    command = [str(HOME / "bin/python"), "-m", "tests.moto_server", str(server.port)]
    with subprocess.Popen(command, cwd=HOME.parents[1], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        wait_for(server.port)
        yield server
        running.terminate()


def serve(port: int) -> None:
    """Be the server."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import run_simple

    answers, turn = DomainDispatcherApplication(create_backend_app), threading.Lock()

    def one_by_one(environment: Any, start: Any) -> list[bytes]:
        in_chunks = environment.get("wsgi.input_terminated", False)  # as Arrow's client sends
        environment["wsgi.input"] = BytesIO(
            environment["wsgi.input"].read(-1 if in_chunks else int(environment.get("CONTENT_LENGTH") or 0))
        )
        with turn:
            return list(answers(environment, start))

    run_simple("127.0.0.1", port, one_by_one, threaded=True)  # a thread a connection: a client may open some and say nothing


if __name__ == "__main__":
    serve(int(sys.argv[1]))
