"""An object store for tests: versitygw, a server of S3 with a folder behind it, if `setup/object_store.sh` has built it; else moto."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests import azure_store, moto_server
from tests.case_counts import at_length
from tests.s3_server import KEY, SECRET, S3Server
from tests.servers import free_port, wait_for

STORES = {"s3": "object_store", "moto": "object_store", "azure": "azure"}
"""What `MUNTIN_OBJECT_STORE` may be -> the fixture of its server."""
BINARY = Path(__file__).parents[1] / "build/bin/versitygw"


@dataclass(frozen=True)
class Server(S3Server):
    """versitygw, and the folder in which each bucket is a folder."""

    folder: Path

    def new_bucket(self) -> str:
        """The address of a bucket without anything in it."""
        name = f"bucket-{uuid4().hex[:12]}"
        (self.folder / name).mkdir()
        return f"s3://{name}"


AnyServer = Server | moto_server.MotoServer


@pytest.fixture(scope="session")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyServer]:
    """The server, started once: versitygw where it could be built, unless `MUNTIN_OBJECT_STORE` is moto."""
    if BINARY.exists() and os.environ.get("MUNTIN_OBJECT_STORE") != "moto":
        with started(tmp_path_factory.mktemp("buckets")) as server:
            yield server
    elif (moto_server.HOME / "ready").exists():
        with moto_server.started() as server:
            yield server
    else:
        pytest.skip("no object store: bash setup/object_store.sh builds one where Go is, and `... moto` fetches another")


def only_of_versitygw(server: AnyServer) -> Server:
    """Leave out a test of what moto does not do: it has no folder, and takes all credentials."""
    if isinstance(server, moto_server.MotoServer):
        pytest.skip("moto has no folder, and takes all credentials; make cluster-test runs it with versitygw")
    return server


@contextmanager
def started(folder: Path) -> Iterator[Server]:
    """A server over a folder."""
    server = Server(free_port(), folder)
    command = [BINARY, "--port", f"127.0.0.1:{server.port}", "--quiet", "posix", server.folder]
    secrets = {"ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
    with subprocess.Popen(list(map(str, command)), env=secrets, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        wait_for(server.port)
        yield server
        running.terminate()


@pytest.fixture(scope="session")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[azure_store.AzureServer]:
    """The server of Azure Blob Storage, started once."""
    if not azure_store.BINARY.exists():
        pytest.skip("no Azurite: bash setup/azure_store.sh fetches it where npm is")
    with azure_store.started(tmp_path_factory.mktemp("containers")) as server:
        yield server


@pytest.fixture
def s3_bucket(object_store: AnyServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket of S3 that this process may use."""
    return _reachable(object_store, monkeypatch)


@pytest.fixture
def bucket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket that this process may use: of S3, or of Azure if `MUNTIN_OBJECT_STORE` says so."""
    return _reachable(request.getfixturevalue(STORES[os.environ.get("MUNTIN_OBJECT_STORE", "s3")]), monkeypatch)


@pytest.fixture(params=["disk", pytest.param("object store", marks=at_length)])
def roots(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where states may lie: a test that takes it runs on both; `make test` tells stores apart in test_object_store.py alone."""
    return str(tmp_path) if request.param == "disk" else request.getfixturevalue("bucket")


def _reachable(server: AnyServer | azure_store.AzureServer, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server.new_bucket()
