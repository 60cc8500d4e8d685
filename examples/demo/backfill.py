"""A backfill by Airflow's command line, followed by its API until every run is done."""

from collections import Counter
from datetime import date
from typing import Any

from examples.demo.api import Api
from examples.demo.background import Program
from examples.demo.failure import DemoError, task_log
from examples.demo.home import Home, airflow
from examples.demo.servers import Airflow
from examples.demo.waiting import Line, finish
from examples.demo.watch import Inspection

TASKS = ("accumulate", "finalize", "validate", "publish")


def backfill(running: Airflow, dag_id: str, first: date, last: date, *, at_once: int = 3) -> None:
    """Run every day from `first` to `last`, `at_once` of them at a time.

    Raises:
        DemoError: the backfill cannot be created, a run failed, a component of Airflow died, or nothing moves.
    """
    days, line = (last - first).days + 1, Line()

    def inspect(api: Api) -> Inspection:
        found = seen(api, running.home, dag_id, days)
        line.show(found.progress)
        return found

    line.show("creating the backfill")
    create(running, dag_id, first, last, "--max-active-runs", str(at_once))
    running.follow(inspect)
    line.end()


def create(running: Airflow, dag_id: str, first: date, last: date, *options: str) -> None:
    """Ask Airflow for the backfill.

    Raises:
        DemoError: it refuses, or a component died.
    """
    dates = ["--from-date", first.isoformat(), "--to-date", last.isoformat()]
    command = airflow("backfill", "create", "--dag-id", dag_id, *dates, *options)
    finish(Program("airflow backfill create", command, running.home.logs / "backfill.log"), running.home, running.components)


def seen(api: Api, home: Home, dag_id: str, days: int) -> Inspection:
    """Whether every day's run succeeded, and how far the backfill is.

    Raises:
        DemoError: a run failed, or counts as successful without its tasks.
    """
    runs = api.get(f"dags/{dag_id}/dagRuns?run_type=backfill&limit=100")["dag_runs"]
    tasks = api.get(f"dags/{dag_id}/dagRuns/~/taskInstances?limit=1000")["task_instances"]
    _check(home, dag_id, runs, tasks)
    return Inspection(sum(run["state"] == "success" for run in runs) == days, progress(runs, tasks, days))


def progress(runs: list[dict[str, Any]], tasks: list[dict[str, Any]], days: int) -> str:
    """How far each step is, over all runs, and which days are being worked on."""
    done = Counter(task["task_id"] for task in tasks if task["state"] == "success")
    steps = "  ".join(f"{name} {done[name]}/{days}" for name in TASKS)
    busy = sorted(run["logical_date"][:10] for run in runs if run["state"] == "running")
    return f"{steps}  {'now ' + ', '.join(day[5:] for day in busy) if busy else ''}".rstrip()


def lost(runs: list[dict[str, Any]], tasks: list[dict[str, Any]]) -> list[str]:
    """The runs that count as successful although no task of theirs ran."""
    worked = {task["dag_run_id"] for task in tasks if task["state"] == "success"}
    return [run["dag_run_id"] for run in runs if run["state"] == "success" and run["dag_run_id"] not in worked]


def _check(home: Home, dag_id: str, runs: list[dict[str, Any]], tasks: list[dict[str, Any]]) -> None:
    if empty := lost(runs, tasks):
        raise DemoError(f"lost: {', '.join(empty)} of {dag_id} counts as successful, but no task of it ran", home.logs / "scheduler.log")
    if not any(run["state"] == "failed" for run in runs):
        return
    broken = next(task for task in tasks if task["state"] == "failed")
    log = task_log(home.folder / "airflow", dag_id, broken["dag_run_id"], broken["task_id"])
    raise DemoError(f"task {broken['task_id']} of run {broken['dag_run_id']} failed", log)
