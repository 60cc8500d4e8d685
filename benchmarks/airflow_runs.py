"""`python -m benchmarks.airflow_runs`: what runs cost in Airflow, beside runs of four empty tasks.

A real scheduler, as in the demo, runs a backfill of `dags/flights.py` and one of a DAG with tasks of the same names. Its first three
tasks start Spark as ours would and count one row, its last one does nothing. Both take turns. The first turn warms the programs up and
is not counted. The empty tasks have Airflow's own LocalExecutor; ours have the executor of the demo, which imports ahead.
What was published is compared with the same batches in bulk before any figure is printed.

Printed: seconds from the start of the first run to the end of the last, CPU seconds of Airflow, Spark and the database
together, and the median seconds of each task. `--local` runs a Spark session in each task, as without a connection.
`--own-executor` gives our tasks Airflow's own, too. `--without-spark` has `spark=None` beside four empty Python tasks.
"""

import argparse
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.cpu import Cpu
from examples.demo.api import Api
from examples.demo.backfill import TASKS, seen
from examples.demo.background import interruptible
from examples.demo.database import database, migrate
from examples.demo.home import PROJECT, Home, make_home
from examples.demo.results import differences
from examples.demo.servers import Airflow, scheduling, spark, until_spark
from examples.demo.watch import Inspection
from examples.flights_log import FOLDER, write_flights_log
from muntin import run
from muntin.cli.place import load_pipeline
from muntin.definition.pipeline import at_home
from muntin.tasks import Local

OURS, EMPTY, LAST_FILE = "flights", "empty", "2014-01-01.parquet"
START, DAY = datetime(2013, 1, 1, tzinfo=UTC), timedelta(days=1)
EMPTY_DAG = """
from datetime import UTC, datetime

from airflow.sdk import DAG, chain, task
from muntin.extensions.airflow.spark import CONNECTION, runner_of

def counting(**context):
    with runner_of(CONNECTION, context) as runner:
        runner.spark.range(1).count()

def nothing(): ...

with DAG("empty", schedule="@daily", start_date=datetime(2013, 1, 1, tzinfo=UTC)) as dag:
    chain(*(task(task_id=name)({first})() for name in {on_spark}), task(task_id="{last}")(nothing)())
"""
POLICY = f"""
def task_policy(task):
    if task.dag_id == "{OURS}":
        task.executor = "ours"
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the runs of one backfill took: seconds, CPU seconds, and the seconds of each task."""

    wall_s: float
    cpu_s: float
    task_s: Mapping[str, float]


@contextmanager
def ready(folder: Path, *, local: bool, own: bool, sparkless: bool) -> Iterator[Airflow]:
    """Airflow with both DAGs, on a Spark Connect server, or without a connection to Spark.

    `own`: whether tasks of ours have Airflow's own executor, too. `sparkless`: whether nobody has Spark.
    """
    home = home_with_dags(folder, sparkless=sparkless)
    share_executors(home, own=own)
    if local:
        home.env.pop("AIRFLOW_CONN_SPARK_DEFAULT")
    with ExitStack() as running:
        needs = [] if local or sparkless else [running.enter_context(spark(home))]
        needs.append(running.enter_context(database(home)))
        migrate(home, needs[-1])
        for server in needs[:-1]:
            until_spark(home, server)
        airflow = running.enter_context(scheduling(home, EMPTY, *needs))
        airflow.follow(lambda api: Inspection(api.get("dags?limit=9")["total_entries"] == len((OURS, EMPTY)), "both DAGs are read"))
        yield airflow


def home_with_dags(folder: Path, *, sparkless: bool) -> Home:
    """A home whose DAG folder holds our DAG, to the letter or with `spark=None`, and the empty one."""
    dags = folder / "dags"
    dags.mkdir()
    ours = (PROJECT / "dags/flights.py").read_text(encoding="utf-8")
    (dags / "flights.py").write_text(ours.replace("airflow_dag(flights", "airflow_dag(flights, spark=None") if sparkless else ours, "utf-8")
    first = "nothing" if sparkless else "counting"
    (dags / "empty.py").write_text(EMPTY_DAG.format(on_spark=TASKS[:-1], last=TASKS[-1], first=first), encoding="utf-8")
    made = make_home(folder / "home", state=folder / "state")
    return replace(made, env=made.env | {"AIRFLOW__CORE__DAGS_FOLDER": str(dags)})


def share_executors(home: Home, *, own: bool) -> None:
    """Let empty tasks have Airflow's own executor, whose workers are started first, before anything is imported ahead."""
    ours = "" if own else f",ours:{home.env['AIRFLOW__CORE__EXECUTOR']}"
    home.env["AIRFLOW__CORE__EXECUTOR"] = f"LocalExecutor{ours}"
    settings = Path(home.env["AIRFLOW_HOME"], "config/airflow_local_settings.py")
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("" if own else POLICY, encoding="utf-8")


def turn(airflow: Airflow, dag_id: str, first: int, runs: int, at_once: int) -> Turn:
    """A backfill of days `[first, first + runs)`, to its end."""
    days = [START + (first + day) * DAY for day in range(runs)]

    airflow.follow(lambda api: is_over(api, dag_id))
    cpu = Cpu([each.process.pid for each in airflow.components])
    asked = {"dag_id": dag_id, "max_active_runs": at_once, "from_date": days[0].isoformat(), "to_date": days[-1].isoformat()}
    airflow.api.post("backfills", asked)
    airflow.follow(lambda api: seen(api, airflow.home, dag_id, first + runs))
    used = cpu.stop()
    return told(airflow.api, dag_id, days, used)


def is_over(api: Api, dag_id: str) -> Inspection:
    """Whether Airflow takes another backfill: it looks twice a minute whether one is complete."""
    backfills = api.get(f"backfills?dag_id={dag_id}")["backfills"]
    return Inspection(all(each["completed_at"] for each in backfills), f"{len(backfills)} backfills of {dag_id}")


def told(api: Api, dag_id: str, days: list[datetime], cpu_s: float) -> Turn:
    """What Airflow says of the runs of these days."""
    of_days = {f"{day:%Y-%m-%d}" for day in days}
    runs = [each for each in api.get(f"dags/{dag_id}/dagRuns?limit=100")["dag_runs"] if each["logical_date"][:10] in of_days]
    begun, ended = ([datetime.fromisoformat(each[name]) for each in runs] for name in ("start_date", "end_date"))
    seconds: dict[str, list[float]] = defaultdict(list)
    names = {each["dag_run_id"] for each in runs}
    for task in api.get(f"dags/{dag_id}/dagRuns/~/taskInstances?limit=1000")["task_instances"]:
        if task["dag_run_id"] in names:
            seconds[task["task_id"]].append(task["duration"])
    return Turn((max(ended) - min(begun)).total_seconds(), cpu_s, {name: statistics.median(of) for name, of in seconds.items()})


def check(home: Home, folder: Path, days: int) -> None:
    """Compare what was published with the same batches in bulk."""
    flights = at_home(load_pipeline(PROJECT / "dags/flights.py"), PROJECT)
    bulk: Any = {"root": folder / "bulk", "start": START, "end": START + days * DAY, "spark": Local(1), "validate": False}
    run(flights, **bulk)
    compared = differences(flights, home.state, folder / "bulk")
    if not all(count and same for count, same in compared.values()):
        raise SystemExit(f"Airflow and bulk published other windows: {compared}")


def measured(*, local: bool = False, own: bool, sparkless: bool, runs: int, turns: int, at_once: int = 1) -> dict[str, list[Turn]]:
    """The counted turns of both DAGs, once the results are right."""
    if not (PROJECT / FOLDER / LAST_FILE).exists():
        write_flights_log(PROJECT / FOLDER)
    found: dict[str, list[Turn]] = {OURS: [], EMPTY: []}
    with tempfile.TemporaryDirectory() as place, ready(Path(place), local=local, own=own, sparkless=sparkless) as airflow:
        days = 0
        for count in [at_once, *[runs] * turns]:
            for dag_id, of_dag in found.items():
                of_dag.append(turn(airflow, dag_id, days, count, at_once))
            days += count
        check(airflow.home, Path(place), days)
    return {dag_id: of_dag[1:] for dag_id, of_dag in found.items()}


def ratios(turns: Mapping[str, list[Turn]]) -> tuple[float, float]:
    """Medians of ours to those of empty tasks: seconds, CPU seconds."""
    wall_s, cpu_s = (
        statistics.median(getattr(each, name) for each in turns[OURS]) / statistics.median(getattr(each, name) for each in turns[EMPTY])
        for name in ("wall_s", "cpu_s")
    )
    return wall_s, cpu_s


def show(turns: Mapping[str, list[Turn]]) -> None:
    """A line for each turn of each DAG, then the ratios of the medians."""
    table = Table("DAG", "wall s", "CPU s", *TASKS, title="Runs in Airflow")
    for dag_id, of_dag in turns.items():
        for each in of_dag:
            table.add_row(dag_id, *(f"{value:.1f}" for value in (each.wall_s, each.cpu_s, *(each.task_s[name] for name in TASKS))))
    wall, cpu = ratios(turns)
    table.add_row("ratio", f"{wall:.2f}", f"{cpu:.2f}")
    Console(width=120).print(table)


def main() -> None:
    """Measure as asked on the command line."""
    interruptible()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.airflow_runs", description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="runs of a turn (7)")
    parser.add_argument("--turns", type=int, default=2, help="counted turns of each DAG (2)")
    parser.add_argument("--at-once", type=int, default=1, help="runs at once (1: of several, all but the first to publish finalize again)")
    parser.add_argument("--local", action="store_true", help="no connection to Spark: a session in each task")
    parser.add_argument("--own-executor", action="store_true", help="Airflow's own executor for our tasks, too: nothing is imported ahead")
    parser.add_argument("--without-spark", action="store_true", help="spark=None, beside empty Python tasks")
    asked = parser.parse_args()
    executors = {"own": asked.own_executor, "local": asked.local, "sparkless": asked.without_spark}
    show(measured(**executors, runs=asked.runs, turns=asked.turns, at_once=asked.at_once))


if __name__ == "__main__":
    main()
