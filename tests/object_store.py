"""An object store for tests: versitygw, a server of S3 with a folder behind it, that `setup/object_store.sh` builds."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests import azure_store
from tests.servers import free_port, wait_for

BINARY = Path(__file__).parents[1] / "build/bin/versitygw"
KEY, SECRET = "muntin-tests", "not-a-secret-of-anybody"


@dataclass(frozen=True)
class Server:
    """Its address, and the folder in which each bucket is a folder."""

    port: int
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to reach it."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }

    def new_bucket(self) -> str:
        """The address of a bucket without anything in it."""
        name = f"bucket-{uuid4().hex[:12]}"
        (self.folder / name).mkdir()
        return f"s3://{name}"


@pytest.fixture(scope="session")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server, started once."""
    if not BINARY.exists():
        pytest.skip("no object store: bash setup/object_store.sh builds one where Go is")
    with started(tmp_path_factory.mktemp("buckets")) as server:
        yield server


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
def s3_bucket(object_store: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket of S3 that this process may use."""
    return _reachable(object_store, monkeypatch)


@pytest.fixture
def bucket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket that this process may use: of S3, or of the store that `MUNTIN_OBJECT_STORE` names, as azure."""
    return _reachable(request.getfixturevalue(os.environ.get("MUNTIN_OBJECT_STORE", "object_store")), monkeypatch)


@pytest.fixture(params=["disk", "object store"])
def roots(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where states may lie: a test that takes it runs on both."""
    return str(tmp_path) if request.param == "disk" else request.getfixturevalue("bucket")


def _reachable(server: Server | azure_store.AzureServer, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server.new_bucket()
