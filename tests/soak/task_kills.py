"""SIGKILL to tasks of Airflow under a real scheduler. Airflow tries the task again, and then the windows equal those of a clean run.

a run of the DAG   accumulate  finalize  validate  publish
killed                           x  finalize  validate  publish      each once its retry came to an end
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import psutil

from examples.demo.api import Api
from examples.demo.background import Component
from examples.demo.database import database, migrate
from examples.demo.home import Home, make_home
from examples.demo.servers import Airflow, scheduling, spark, until_spark
from examples.demo.watch import Inspection
from tests.soak.flow import START
from tests.soak.ground import BATCHES, HOUR, Ground
from tests.soak.kills import files_below

TASKS = ("accumulate", "finalize", "validate", "publish")
KILLS = 10
POLL_S = 0.1
LONGEST_S = 300
MOST_FILES = 12
"""A task writes about so many files."""
DAG_FILE = """
from dataclasses import replace

from muntin import airflow_dag
from tests.soak.flow import flow

ground = replace(flow({folder!r}), expectations={{"sliding": "expectations/sliding.json"}})
dag = airflow_dag(ground)
"""
SUITE = '{"name": "sliding", "expectations": [{"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "n"}}]}'


def tasks_killed(folder: Path, dice: Random, *, kills: int = KILLS) -> str:
    """All batches once; then a batch is replaced and run again, and one of its tasks is killed; so many times."""
    ground = Ground(folder, dice)
    with scheduled(ground) as airflow:
        rounds = Rounds(ground, airflow)
        rounds.begin()
        for _ in range(4 * kills):
            if len(rounds.told) < kills:
                rounds.kill_one()
    assert len(rounds.told) == kills, f"only {len(rounds.told)} of {4 * kills} runs had a task at its moment: {rounds.told}"
    return "; ".join(rounds.told)


@contextmanager
def scheduled(ground: Ground) -> Iterator[Airflow]:
    """Airflow's four components and a Spark Connect server, with a DAG of the ground's pipeline."""
    for name, text in (("dags/ground.py", DAG_FILE.format(folder=str(ground.folder))), ("expectations/sliding.json", SUITE)):
        (ground.folder / name).parent.mkdir()
        (ground.folder / name).write_text(text)
    with spark(home := _home(ground)) as server, database(home) as postgres:
        yield from _scheduled(home, server, postgres)


def _scheduled(home: Home, server: Component, postgres: Component) -> Iterator[Airflow]:
    migrate(home, postgres)
    until_spark(home, server)
    with scheduling(home, "ground", postgres, server) as running:
        yield running


def _home(ground: Ground) -> Home:
    home = make_home(ground.folder / "home", state=ground.folder / "state")
    settings = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(ground.folder / "dags"),
        "AIRFLOW__CORE__DEFAULT_TASK_RETRIES": "2",
        "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "1",
        "MUNTIN_HOME": str(ground.folder),
    }
    return replace(home, env=home.env | settings)


@dataclass
class Rounds:
    """Runs of the DAG. `took`: task -> seconds; `told`: of each task that was killed."""

    ground: Ground
    airflow: Airflow
    took: dict[str, float] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    runs: int = 0

    def begin(self) -> None:
        """Run all batches without Airflow, one with it, and look how long its tasks take."""
        self.ground.run(end=BATCHES - 1)
        run = self._asked(BATCHES - 1)
        self._follow(run)
        self.took = {task["task_id"]: task["duration"] for task in self._tasks(run)}
        self._check("the first runs")

    def kill_one(self) -> None:
        """Replace a batch, run it, and kill a task at some moment: a time after its begin, or once it has written so many files."""
        dice, at = self.ground.dice, self.ground.dice.randrange(BATCHES)
        task = dice.choice(TASKS)
        after_s, files = (dice.random() * self.took[task], None) if dice.random() < 0.5 else (None, dice.randrange(1, MOST_FILES))
        self.ground.write(at)
        run = self._asked(at)
        killed = self._kill(run, task, after_s, files)
        self._follow(run)
        what = f"{task} killed " + (f"after {after_s:.1f} s" if files is None else f"after {files} files")
        self._check(what)
        if killed:
            tries = next(each["try_number"] for each in self._tasks(run) if each["task_id"] == task)
            self.told.append(f"{what}, done at try {tries}")

    def _kill(self, run: str, task: str, after_s: float | None, files: int | None) -> bool:
        """Whether the task was there at its moment."""
        before, seen_at, until = 0, 0.0, time.monotonic() + LONGEST_S
        while time.monotonic() < until:
            found = next(each for each in self._tasks(run) if each["task_id"] == task)
            if found["state"] in {"success", "failed", "upstream_failed", "skipped"}:
                return False
            if found["state"] == "running" and found["pid"]:
                if not seen_at:
                    before, seen_at = files_below(self.ground.folder), time.monotonic()
                if time.monotonic() - seen_at >= (after_s or 0) and files_below(self.ground.folder) - before >= (files or 0):
                    return _killed(found["pid"])
            time.sleep(POLL_S)
        return False

    def _asked(self, at: int) -> str:
        """Ask for a run of a batch; its name."""
        self.runs += 1
        conf = {"interval_start": (START + at * HOUR).isoformat()}
        asked = self.airflow.api.post("dags/ground/dagRuns", {"logical_date": None, "conf": conf, "dag_run_id": f"run_{self.runs}"})
        return str(asked["dag_run_id"])

    def _tasks(self, run: str) -> Sequence[dict[str, Any]]:
        found: Sequence[dict[str, Any]] = self.airflow.api.get(f"dags/ground/dagRuns/{run}/taskInstances")["task_instances"]
        return found

    def _follow(self, run: str) -> None:
        """Until the run is over, which succeeds."""

        def inspect(api: Api) -> Inspection:
            state = api.get(f"dags/ground/dagRuns/{run}")["state"]
            return Inspection(
                state in {"success", "failed"}, f"{run} {state} {[(task['task_id'], task['state']) for task in self._tasks(run)]}"
            )

        self.airflow.follow(inspect)
        failed = [task["task_id"] for task in self._tasks(run) if task["state"] != "success"]
        assert not failed, (run, failed)

    def _check(self, what: str) -> None:
        assert self.ground.differs(clean=f"clean {self.runs}") == [], (what, self.told)


def _killed(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        psutil.Process(pid).kill()
        return True
    return False
