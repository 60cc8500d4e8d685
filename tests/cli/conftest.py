"""A definition and two days of its source in a folder, and the command as tests call it."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from muntin.cli.main import main
from muntin.store.state import states_of

DEFINITION = '''
"""Readings of sensors."""
import os
from datetime import UTC, datetime

from muntin import Limits, Renamed
from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

print("a definition may print")
os.write(1, b"and so may what it calls\\n")

sensors = Pipeline(
    name="sensors",
    source=sources.files("{folder}/{{start:%Y-%m-%d}}*.csv", event_time="at", missing="empty", types={{"sensor": "VARCHAR"}}),
    schedule="@daily",
    start=datetime(2020, 1, 1, tzinfo=UTC),
    keys=["sensor"],
    windows={{"quarter": windows.tumbling("6h"), "visit": windows.session("2h")}},
    aggregates={{"readings": agg.count(), "total": agg.sum("value"), "least": agg.min("value"), "who": agg.first("sensor")}},
)
dag = airflow_dag(sensors)
'''

# quarter   [00, 06)   [06, 12)   [12, 18)   [18, 24)   [00, 06)
# day 1     ä 01:00 1  ö 07:00 2
# day 2                                                 ä 03:00 3
#           ä 02:00 10 too late, and a row that has no time
DAYS = {
    "2020-01-01": "at,sensor,value\n2020-01-01T01:00:00Z,ä,1\n2020-01-01T07:00:00Z,ö,2\n",
    "2020-01-02": "at,sensor,value\n2020-01-02T03:00:00Z,ä,3\n2020-01-01T02:00:00Z,ä,10\n,ö,4\n",
}
RANGE = ("--start", "2020-01-01", "--end", "2020-01-03")
UNTIL = RANGE[2:]
"""With it, a command does what there is to do before then."""


@dataclass(frozen=True)
class Project:
    """A folder with a definition, its source and its state."""

    folder: Path

    @property
    def file(self) -> str:
        return str(self.folder / "sensors.py")

    @property
    def root(self) -> str:
        return str(self.folder / "state")

    @property
    def state(self) -> Path:
        return states_of(Path(self.root, "sensors"))[0]

    def define(self, **changes: str) -> None:
        """Write the definition, with some of its texts replaced."""
        text = DEFINITION.format(folder=self.folder)
        for old, new in changes.items():
            text = text.replace(old, new)
        Path(self.file).write_text(text, encoding="utf-8")

    def bring(self, day: str, text: str | None = None) -> Path:
        path = self.folder / f"{day}.csv"
        path.write_text(DAYS[day] if text is None else text, encoding="utf-8")
        os.utime(path, (time.time() - 3600, time.time() - 3600))  # its writer is done
        return path

    def arguments(self, command: str, *more: str) -> list[str]:
        return [command, self.file, *more, "--root", self.root]


@dataclass(frozen=True)
class Outcome:
    """What a command returned and printed."""

    status: int
    out: str
    err: str


Muntin = Callable[..., Outcome]


def made(folder: Path) -> Project:
    project = Project(folder)
    project.define()
    for day in DAYS:
        project.bring(day)
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return made(tmp_path)


@pytest.fixture(scope="package")
def done(tmp_path_factory: pytest.TempPathFactory, spark: object) -> Project:
    """A project whose two days are published; nobody may change it."""
    project = made(tmp_path_factory.mktemp("done"))
    assert main(project.arguments("run", *RANGE)) == 0
    return project


@contextmanager
def without_spark() -> Iterator[None]:
    """Runs of the command take place in this process."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muntin.tasks.choice._active", lambda: None)  # a session of other tests
        yield


@pytest.fixture
def here() -> Iterator[None]:
    """Runs take place in this process."""
    with without_spark():
        yield


@pytest.fixture(scope="package")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """As `done`, made without Spark; nobody may change it either."""
    project = made(tmp_path_factory.mktemp("ran"))
    with without_spark():
        assert main(project.arguments("run", *RANGE)) == 0
    return project


@pytest.fixture
def muntin(capfd: pytest.CaptureFixture[str]) -> Muntin:
    """The command; what Java or a child prints is captured too."""

    def call(*arguments: str) -> Outcome:
        capfd.readouterr()
        status = main(list(arguments))
        printed = capfd.readouterr()
        return Outcome(status, printed.out, printed.err)

    return call
