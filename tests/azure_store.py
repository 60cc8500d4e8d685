"""Azure Blob Storage for tests: Azurite, Microsoft's own emulator, that `setup/azure_store.sh` fetches for `make cluster-test`."""

import base64
import hashlib
import hmac
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from urllib.request import Request, urlopen
from uuid import uuid4

from tests.servers import free_port, wait_for

BINARY = Path(__file__).parents[1] / "build/azurite/node_modules/.bin/azurite-blob"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # as Microsoft's documentation has it
_VERSION = "2021-08-06"


@dataclass(frozen=True)
class AzureServer:
    """Its port on this machine."""

    port: int

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to reach it."""
        return {
            "AZURE_STORAGE_USE_EMULATOR": "true",
            "AZURITE_BLOB_STORAGE_URL": f"http://127.0.0.1:{self.port}",
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        }

    def new_bucket(self) -> str:
        """The address of a container without anything in it."""
        name, date = f"container-{uuid4().hex[:12]}", formatdate(usegmt=True)
        signed = f"PUT\n{chr(10) * 11}x-ms-date:{date}\nx-ms-version:{_VERSION}\n/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
        digest = base64.b64encode(hmac.digest(base64.b64decode(KEY), signed.encode(), hashlib.sha256)).decode()
        headers = {"x-ms-date": date, "x-ms-version": _VERSION, "Authorization": f"SharedKey {ACCOUNT}:{digest}", "Content-Length": "0"}
        address = f"http://127.0.0.1:{self.port}/{ACCOUNT}/{name}?restype=container"
        with urlopen(Request(address, method="PUT", headers=headers)) as answer:
            assert answer.status == 201
        return f"az://{name}"


@contextmanager
def started(folder: Path) -> Iterator[AzureServer]:
    """A server that keeps its objects in a folder."""
    server = AzureServer(free_port())
    command = [BINARY, "--silent", "--disableTelemetry", "--skipApiVersionCheck", "--location", folder, "--blobPort", server.port]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        wait_for(server.port)
        yield server
        running.terminate()
