"""A backfill by Airflow's command line, followed by its API until every run is done."""

import subprocess
import time
from collections import Counter
from datetime import date
from typing import Any

from examples.demo.api import Api
from examples.demo.failure import DemoError, task_log
from examples.demo.home import Home, airflow
from examples.demo.waiting import Line

TASKS = ("accumulate", "finalize", "validate", "publish")
TRIES = 5


def backfill(home: Home, api: Api, dag_id: str, first: date, last: date, *, at_once: int = 3, patience_s: float = 1200) -> None:
    """Run every day from `first` to `last`, `at_once` of them at a time.

    Raises:
        DemoError: the backfill cannot be created, a run failed, or it takes too long.
    """
    days, line = (last - first).days + 1, Line()
    line.show("creating the backfill")
    create(home, dag_id, first, last, "--max-active-runs", str(at_once))
    limit = time.monotonic() + patience_s
    while True:
        runs = api.get(f"dags/{dag_id}/dagRuns?run_type=backfill&limit=100")["dag_runs"]
        tasks = api.get(f"dags/{dag_id}/dagRuns/~/taskInstances?limit=1000")["task_instances"]
        line.show(progress(runs, tasks, days))
        _check(home, dag_id, runs, tasks)
        if sum(run["state"] == "success" for run in runs) == days:
            return line.end(progress(runs, tasks, days))
        if time.monotonic() > limit:
            raise DemoError(f"the backfill is not done after {patience_s:.0f} s", home.logs / "airflow.log")
        time.sleep(1)


def create(home: Home, dag_id: str, first: date, last: date, *options: str) -> None:
    """Ask Airflow for the backfill, again while its SQLite database is busy: it cleans up after itself then.

    Raises:
        DemoError: it refuses; the message is Airflow's.
    """
    dates = ["--from-date", first.isoformat(), "--to-date", last.isoformat()]
    command = airflow("backfill", "create", "--dag-id", dag_id, *dates, *options)
    for _ in range(TRIES):
        done = subprocess.run(command, env=home.env, capture_output=True, text=True, check=False)
        if not done.returncode:
            return
        if "database is locked" not in done.stderr + done.stdout:
            break
    raise DemoError(f"airflow backfill create failed:\n{done.stdout}{done.stderr}")


def progress(runs: list[dict[str, Any]], tasks: list[dict[str, Any]], days: int) -> str:
    """How far each step is, over all runs, and which days are being worked on."""
    done = Counter(task["task_id"] for task in tasks if task["state"] == "success")
    steps = "  ".join(f"{name} {done[name]}/{days}" for name in TASKS)
    busy = sorted(run["logical_date"][:10] for run in runs if run["state"] == "running")
    return f"{steps}  {'now ' + ', '.join(day[5:] for day in busy) if busy else ''}".rstrip()


def _check(home: Home, dag_id: str, runs: list[dict[str, Any]], tasks: list[dict[str, Any]]) -> None:
    if not any(run["state"] == "failed" for run in runs):
        return
    broken = next(task for task in tasks if task["state"] == "failed")
    log = task_log(home.folder / "airflow", dag_id, broken["dag_run_id"], broken["task_id"])
    raise DemoError(f"task {broken['task_id']} of run {broken['dag_run_id']} failed", log)
