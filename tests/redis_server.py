"""A Redis of its own for the tests of a session. Debian's server is the same program as its check of dumps, and goes by its name."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers import free_port, wait_for

PROGRAMS = ("redis-server", "valkey-server", "redis-check-rdb", "valkey-check-rdb")
PASSWORD = "geheim"  # noqa: S105 - of a server that lives for a test
PATIENCE_S = 60


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server, with its password."""
    if not (found := program()):
        pytest.skip("no Redis: bash setup/stores.sh fetches it where apt-get or brew may")
    with started(found, tmp_path_factory.mktemp("redis")) as address:
        yield address


@pytest.fixture
def cache(redis: str) -> str:
    """The address of an empty server."""
    with client(redis) as emptied:
        emptied.flushall()
        emptied.config_resetstat()
    return redis


def program() -> str:
    """The path of a server; "": there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), "")


@contextmanager
def client(address: str) -> Iterator[Any]:
    """A client of the tests' own."""
    from redis import Redis

    with Redis.from_url(address, decode_responses=True) as opened:
        yield opened


@contextmanager
def started(server: str, folder: Path, certificate: str = "") -> Iterator[str]:
    """A server that keeps nothing on disk, and takes no text above 1 MB; with a certificate it speaks TLS alone."""
    own = {"save": "", "dir": str(folder), "proto-max-bulk-len": "1mb"}
    port = str(free_port())
    tls = {"tls-port": port, "tls-cert-file": certificate, "tls-key-file": certificate, "tls-auth-clients": "no"} if certificate else {}
    settings = {"port": "0" if tls else port, "bind": "127.0.0.1", "requirepass": PASSWORD, **tls, **own}
    words = [word for name, value in settings.items() for word in (f"--{name}", value)]
    called = Path(server).name.replace("check-rdb", "server")
    log = (folder / "log").open("wb")
    with log, subprocess.Popen([called, *words], executable=server, stdout=log, stderr=log) as running:
        try:
            wait_for(int(port), seconds=PATIENCE_S)
            yield f"redis{'s' if tls else ''}://:{PASSWORD}@127.0.0.1:{port}/0"
        finally:
            running.kill()
