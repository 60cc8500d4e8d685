"""`make pin`: a digest is that of what a registry answers. The registry here asks for a token, as Docker's does."""

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from setup import pin_images

INDEX = b'{"schemaVersion": 2, "manifests": []}'
DIGEST = f"sha256:{hashlib.sha256(INDEX).hexdigest()}"


@contextmanager
def registry(said: str = DIGEST) -> Iterator[str]:
    """A registry in which every image has the same content, and says its digest."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/token"):
                assert "scope=repository" in self.path
                self.answer(200, json.dumps({"token": "anybody"}).encode())
            elif self.headers.get("Authorization") == "Bearer anybody" and "index" in self.headers["Accept"]:
                self.answer(200, INDEX, ("Docker-Content-Digest", said))
            else:
                realm = f'Bearer realm="{address}/token",service="here",scope="repository:library/x:pull"'
                self.answer(401, b"", ("WWW-Authenticate", realm))

        def answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
            self.send_response(status)
            for header in headers:
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()


def test_a_digest_is_that_of_the_content() -> None:
    with registry() as address:
        assert pin_images.digest_of(address, "postgres", "16.11") == DIGEST


def test_a_registry_that_says_another_is_not_believed() -> None:
    with registry("sha256:" + "0" * 64) as address, pytest.raises(OSError, match="of what is"):
        pin_images.digest_of(address, "postgres", "16.11")


def test_each_image_gets_its_digest_and_ours_none() -> None:
    found = dict.fromkeys(pin_images.images(), DIGEST)
    assert {name for name, _ in found} == {"postgres", "apache/kafka", "versity/versitygw", "python"}
    for path in pin_images.FILES:
        text = pin_images.pinned(path, found)
        lines = [each for each in pin_images.IMAGE.finditer(text) if each["image"] != pin_images.OURS]
        assert lines
        assert {each["digest"] for each in lines} == {f"@{DIGEST}"}
        assert f"{pin_images.OURS}:0.1.0@" not in text


def test_a_check_fails_where_an_image_is_another() -> None:
    with registry() as address:
        command = [sys.executable, str(Path(pin_images.__file__)), "--check", "--registry", address]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "docker-compose.yml: not pinned as the registry has it: make pin" in done.stdout
