"""`python -m examples.demo.backfills --times 20`: as many backfills of a week, all beside one live scheduler. Each run has to run.

The DAGs have the demo's four tasks, with next to nothing in them. A backfill is created while the ones before it run.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

from examples.demo.backfill import TASKS, create, seen
from examples.demo.background import interruptible
from examples.demo.database import database, migrate
from examples.demo.failure import DemoError, report
from examples.demo.home import Home, make_home
from examples.demo.servers import Airflow, scheduling

DAGS = """
from datetime import datetime

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, chain, task

for number in range({times}):
    with DAG(f"week_{{number}}", schedule="@daily", start_date=datetime(2013, 1, 1)):

        @task
        def accumulate(): ...

        chain(accumulate(), *(EmptyOperator(task_id=name) for name in {rest}))
"""
DAYS = 7


def main() -> int:
    """Run the backfills; the exit status."""
    interruptible()
    parser = argparse.ArgumentParser(prog="python -m examples.demo.backfills")
    parser.add_argument("--times", type=int, default=20)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as folder:
        try:
            backfills(Path(folder), times)
        except DemoError as wrong:
            print(report(wrong, Path(folder)), file=sys.stderr)
            return 1
    return 0


def backfills(folder: Path, times: int) -> None:
    """Create them all, then wait for each.

    Raises:
        DemoError: a run is lost or failed, or a component died.
    """
    begun = time.monotonic()
    with small_airflow(folder, times) as running:
        for number in range(times):
            create(running, f"week_{number}", date(2013, 1, 1), date(2013, 1, DAYS), "--max-active-runs", "3")
            print(f"  {time.monotonic() - begun:4.0f} s  {number + 1} backfills created", flush=True)
        for number in range(times):
            running.follow(partial(seen, home=running.home, dag_id=f"week_{number}", days=DAYS))
    print(f"{times} backfills, {times * DAYS} runs: none lost, {time.monotonic() - begun:.0f} s")


@contextmanager
def small_airflow(folder: Path, times: int) -> Iterator[Airflow]:
    """Airflow with as many DAGs `week_0`, `week_1`... as asked for, without Spark."""
    home = small_home(folder, times)
    with database(home) as postgres:
        migrate(home, postgres)
        with scheduling(home, f"week_{times - 1}", postgres) as running:
            yield running


def small_home(folder: Path, times: int) -> Home:
    """A home whose DAG folder holds nothing else."""
    dags = folder / "dags"
    dags.mkdir()
    (dags / "weeks.py").write_text(DAGS.format(times=times, rest=list(TASKS[1:])), encoding="utf-8")
    made = make_home(folder / "home", state=folder / "state")
    return replace(made, env=made.env | {"AIRFLOW__CORE__DAGS_FOLDER": str(dags)})


if __name__ == "__main__":
    sys.exit(main())
