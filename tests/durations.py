"""How long files of tests take: `--write-durations` measures it, the budgets of `make check` and `make test` are sums of it.

Seconds are those of processors, of a test's process and of all that it started, so that neither waiting nor what runs beside counts.
"""

import json
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_name("durations.json")
MEASURED: dict[str, dict[str, float]] = json.loads(FILE.read_text(encoding="utf-8"))
"""File -> seconds in `make test` ("test") and of what `make test-long` runs of it ("long"), as measured."""
SHARED = "tests/conftest.py"
"""Stands for the servers that start once for a run."""
NOT_MEASURED = 30.0
QUICK = 0.4
"""Seconds that a file of `make check` takes at most."""
CHECK, TEST = 25.0, 1270.0
"""Seconds that all files of `make check` and of `make test` take at most; beside them lint, kernels and collecting."""
LONGEST = 15.0
"""Seconds that a file of `make test` takes at most, but for LONGER."""
LONGER: dict[str, str] = {
    "tests/airflow/test_inside_dag.py": "Airflow in a process of its own",
    "tests/airflow/test_one_scheduler.py": "a real Airflow: its database, a scheduler, workers and the page",
    "tests/installs/test_every_install.py": "the wheel in a fresh environment",
    "tests/taken_back/test_taken_back.py": "batches are read, changed by later batches, read again, and compared with a clean run",
}
"""File -> why it may take longer."""
LONGER_TOGETHER = 200.0
UNSEEN = 0.03  # seconds of a test after which nobody asks what the programs took that it started


def files() -> list[Path]:
    """All files of tests but those that another test runs, in a process of its own."""
    return sorted(path for path in Path(__file__).parent.rglob("test_*.py") if path.parent.name != "inside")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def seconds(path: Path, which: str = "test") -> float:
    """How long a file takes; a file that was never measured takes long."""
    name = name_of(path)
    return MEASURED[name].get(which, 0.0) if name in MEASURED else NOT_MEASURED


def is_quick(path: Path) -> bool:
    """Whether a file is quick enough for `make check`."""
    return seconds(path) <= QUICK


class Meter:
    """Adds to the report of each test the processor's seconds that it took."""

    def __init__(self) -> None:
        import psutil

        self.own, self.missing = psutil.Process(), psutil.Error
        self.before, self.began, self.shared = self.spent(), time.monotonic(), 0.0

    def spent(self) -> float:
        """By this process, and by all that it has started."""
        total = 0.0
        for process in (self.own, *self.own.children(recursive=True)):
            try:
                times = process.cpu_times()
            except self.missing:
                continue
            total += times.user + times.system + times.children_user + times.children_system
        return total

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self.began = time.monotonic()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        """A server is not charged to the file that happens to ask first."""
        if fixturedef.scope != "session":
            return (yield)
        before = self.spent()
        try:
            return (yield)
        finally:
            self.shared += self.spent() - before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Any:
        report = yield
        if call.when == "teardown" and time.monotonic() - self.began > UNSEEN:
            now = self.spent()
            report.user_properties += [("cpu", now - self.before - self.shared), ("shared", self.shared)]
            self.before, self.shared = now, 0.0
        return report


def taken(reports: Iterable[Any]) -> dict[str, float]:
    """File -> seconds that its tests took."""
    by_file = defaultdict[str, float](float)
    for report in reports:
        said = dict(report.user_properties)
        by_file[report.nodeid.partition("::")[0]] += said.get("cpu", 0.0)
        by_file[SHARED] += said.get("shared", 0.0)
    return by_file


def write(measured: dict[str, float], which: str) -> None:
    """Write down what the files of a run took; files that were not among them stay as they are."""
    known = {file: dict(took) for file, took in MEASURED.items() if (ROOT / file).exists()}
    for file, took in measured.items():
        known.setdefault(file, {})[which] = round(max(took, 0.0), 1)  # a program that ends takes its count along
    lines = (f"{json.dumps(file)}: {json.dumps(known[file], sort_keys=True)}" for file in sorted(known))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
