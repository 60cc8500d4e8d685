"""What stands for containers on a machine without Docker: the whole list of how a process here differs from its container.

| in the file or the image | here |
| --- | --- |
| `/opt/...` | the same path below one folder: a folder of the checkout that is mounted is a copy there, a volume is an empty folder |
| `/var/lib/<image>/...` | the same path below that folder |
| `/tmp/...` | a folder of the container's own |
| `/usr/local/bin/...` | the programs of this Python |
| a service's name as host, `localhost`, `0.0.0.0` | 127.0.0.1 |
| a port | a free port; a second container of a service has other ones |
| the package, installed at `/opt/muntin` | `PYTHONPATH` |
| the address of the container, `$(hostname)` | 127.0.0.1 |
| `NUMBA_CACHE_DIR` | not set: kernels that the checkout has compiled are not compiled again |
| Java | starts quickly, which makes it slower later |

A process has the environment of the image and of the file, and nothing of the environment of the tests.
"""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.compose.compose_file import CHECKOUT, Service
from tests.servers import free_port

PORTS = {
    "postgres": (5432,),
    "api-server": (8080,),
    "scheduler": (8974,),
    "spark-master": (7077, 8081),
    "spark-worker": (8082,),
    "spark-connect": (15002,),
    "task-network": (),
    "kafka": (9092, 9093),
    "s3": (7070,),
}
_HOSTS = "|".join(PORTS)
_PORT = re.compile(rf"(?<![\w.])({'|'.join(str(port) for ports in PORTS.values() for port in ports)})(?!\w)")
_HOST = re.compile(rf"(?<![\w-])({_HOSTS})(?=:\d)|(?<=/dev/tcp/)({_HOSTS})(?=/)|(?<=spark\.driver\.host=)({_HOSTS})$|^(spark-master)$")
_PATH = re.compile(r"(?<![\w./])/(opt|var/lib|tmp|usr/local/bin)(?=/|$)")
_PROGRAMS = Path(sys.executable).parent


@dataclass(frozen=True)
class Places:
    """Where the containers of one file are.

    Attributes:
        folder: for everything.
        services: of the file.
        ports: of the file, by what they are here.
    """

    folder: Path
    services: Mapping[str, Service]
    ports: Mapping[int, int] = field(default_factory=lambda: {port: free_port() for ports in PORTS.values() for port in ports})

    def furnish(self) -> None:
        """Put what is mounted at its place."""
        for service in self.services.values():
            for target, source in service.mounts.items():
                place = Path(self.here(target, service.name))
                if source.startswith("./") and (CHECKOUT / source).is_dir() and not place.exists():
                    shutil.copytree(CHECKOUT / source, place)
                place.mkdir(parents=True, exist_ok=True)

    def here(self, text: str, container: str) -> str:
        """A word of a command, a value of the environment or a path, as it is for a container here."""
        text = _PATH.sub(lambda found: self._path(found[1], container), text)
        text = _HOST.sub("127.0.0.1", re.sub(r"\blocalhost\b|\b0\.0\.0\.0\b|\$\(hostname\)", "127.0.0.1", text))
        return _PORT.sub(lambda found: str(self._port(int(found[0]), container)), text)

    def own(self, container: str) -> Path:
        """A folder for what a container does not share."""
        return self.folder / "containers" / container

    def environment(self, service: Service, container: str) -> dict[str, str]:
        """What its processes know."""
        (self.own(container) / "tmp").mkdir(parents=True, exist_ok=True)
        java = os.environ["JAVA_HOME"]
        machine = {
            "PATH": f"{_PROGRAMS}:{java}/bin:/usr/bin:/bin",
            "JAVA_HOME": java,
            "HOME": str(self.own(container)),
            "LC_ALL": "C.UTF-8",
            "TMPDIR": str(self.own(container) / "tmp"),
            "PYTHONPATH": f"{self.folder}/opt/muntin/pipelines",
            "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        said = {**(image_environment() if "build" in service.said else {}), **service.environment}
        return machine | {name: self.here(value, container) for name, value in said.items()}

    def _path(self, start: str, container: str) -> str:
        """What stands for the beginning of a path."""
        if start == "usr/local/bin":
            return str(_PROGRAMS)
        return str((self.own(container) if start == "tmp" else self.folder) / start)

    def _port(self, port: int, container: str) -> int:
        if container.endswith("-2") and port in PORTS[container.removesuffix("-2")]:
            return self._second[port]
        return self.ports[port]

    _second: dict[int, int] = field(default_factory=lambda: {port: free_port() for port in PORTS["spark-worker"]})


def image_environment() -> dict[str, str]:
    """What the Dockerfile sets, but for the cache of kernels."""
    lines = re.search(r"^ENV ((?:.*\\\n)*.*)$", (CHECKOUT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert lines
    said = dict(word.split("=", 1) for word in lines[1].replace("\\\n", " ").split())
    assert said.pop("NUMBA_CACHE_DIR") == "/tmp/numba"  # noqa: S108 - the container's
    return said
