"""`python -m examples.demo`, or `make demo`. Everything it writes is below `.demo` and `data/flights`."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from examples.demo.backfill import backfill
from examples.demo.background import Component, Program, interruptible
from examples.demo.database import database, migrate
from examples.demo.failure import DemoError, report
from examples.demo.home import PROJECT, Home, make_home
from examples.demo.results import WINDOW, batch_table, differences, plot, reports, window_table
from examples.demo.servers import scheduling, spark, until_spark
from examples.demo.waiting import finish
from examples.flights_log import FOLDER, write_flights_log
from muntin import Pipeline, RunReport, run
from muntin.cli.place import load_pipeline
from muntin.definition.pipeline import at_home

DEMO = PROJECT / ".demo"
DEFINITION = "dags/flights.py"
WEEK = (datetime(2013, 1, 1, tzinfo=UTC), datetime(2013, 1, 8, tzinfo=UTC))
YEAR = (datetime(2013, 1, 1, tzinfo=UTC), datetime(2014, 1, 2, tzinfo=UTC))
SHOWN = datetime(2013, 1, 7, 18, tzinfo=UTC)
LAST_FILE = "2014-01-01.parquet"


def main() -> int:
    """Run the demo; the exit status."""
    interruptible()
    begun = time.monotonic()
    try:
        demo()
    except DemoError as wrong:
        print(report(wrong, DEMO), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; everything that was started is stopped")
        return 130
    print(f"\nThe demo took {time.monotonic() - begun:.0f} s.")
    return 0


def demo() -> None:
    """The main job, then the same in bulk."""
    shutil.rmtree(DEMO, ignore_errors=True)
    home = make_home(DEMO, state=DEMO / "state")
    flights = at_home(load_pipeline(PROJECT / DEFINITION), PROJECT)
    with spark(home) as server:
        with database(home) as postgres:
            with step("The flights of 2013 as an arrival log; PostgreSQL for Airflow; a Spark Connect server, the engine compiled in it"):
                write_log()
                migrate(home, postgres)
                until_spark(home, server)
                in_bulk(home, flights, DEMO / "compiling", WEEK[0], WEEK[0] + timedelta(days=2))
            a_week_by_airflow(home, postgres, server)
        show(flights, home.state)
        the_week_in_bulk(home, flights)
        the_year_in_bulk(home, flights)
    what_next()


@contextmanager
def step(title: str) -> Iterator[None]:
    """A heading, and how long it took."""
    print(f"\n{title}", flush=True)
    begun = time.monotonic()
    yield
    print(f"  done in {time.monotonic() - begun:.1f} s", flush=True)


def write_log() -> None:
    """The source data, unless it is there."""
    folder = PROJECT / FOLDER
    if not (folder / LAST_FILE).exists():
        print(f"  {write_flights_log(folder):,} flights in {FOLDER}, a file for each day on which flights left", flush=True)


def a_week_by_airflow(home: Home, *needs: Component) -> None:
    """The scheduler runs a week of daily batches."""
    title = "Airflow: its scheduler, its DAG processor, its triggerer, its web server"
    with step(title), scheduling(home, "flights", *needs) as running:
        print("  up; now: airflow backfill create --dag-id flights --from-date 2013-01-01 --to-date 2013-01-07 --max-active-runs 3")
        backfill(running, "flights", date(2013, 1, 1), date(2013, 1, 7), at_once=3)


def show(flights: Pipeline, root: Path) -> None:
    """What the week's runs published."""
    print(f"\nEach batch is a day of departures; a flight that leaves late arrives late:\n\n{batch_table(reports(flights, root, *WEEK))}")
    print(f"\nWindows of {WINDOW}, the last that end by 18:00 UTC on 2013-01-07:\n\n{window_table(flights, root, SHOWN)}")
    print(f"\nThe week as a picture: {plot(flights, root, DEMO / f'{WINDOW}.png')}", flush=True)


def the_week_in_bulk(home: Home, flights: Pipeline) -> None:
    """The same batches without Airflow and without Spark, all in one go, must publish the same windows."""
    other = DEMO / "bulk"
    command = ["muntin", "run", DEFINITION, "--root", str(other), "--start", "2013-01-01", "--end", "2013-01-08"]
    with step(f"The same week in bulk, without Airflow and without Spark: {' '.join(command)}"):
        finish(Program("muntin run", command, home.logs / "bulk.log", PROJECT), home, [])
    compared = differences(flights, home.state, other)
    for window, (count, same) in compared.items():
        print(f"  {window}: {count:,} windows, {'the same, to the last bit' if same else 'NOT THE SAME'}", flush=True)
    if not all(same for _, same in compared.values()):
        raise DemoError(f"Airflow with Spark and bulk without published other windows: compare {home.state} with {other}")


def the_year_in_bulk(home: Home, flights: Pipeline) -> None:
    """The whole year, from files to published windows."""
    with step("The whole year in bulk, 366 batches"):
        begun = time.monotonic()
        done = in_bulk(home, flights, DEMO / "year", *YEAR)
        seconds = time.monotonic() - begun
    read, closed = sum(each.rows_read for each in done.batches), sum(sum(each.windows_closed.values()) for each in done.batches)
    print(f"  {read:,} flights into {closed:,} audited, published windows in {seconds:.1f} s: {read / seconds:,.0f} flights/s")


def in_bulk(home: Home, flights: Pipeline, root: Path, start: datetime, end: datetime) -> RunReport:
    """`muntin.run` on the Spark Connect server."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(home.spark).getOrCreate()
    try:
        return run(flights, root=root, start=start, end=end, spark=session)
    finally:
        session.stop()


def what_next() -> None:
    """What a newcomer may type now."""
    state = (DEMO / "state").relative_to(PROJECT)
    print(
        f"""
What to type next:
  . .venv/bin/activate
  muntin status {DEFINITION} --root {state}
  muntin show {DEFINITION} day --root {state}
  muntin plan {DEFINITION} --root {state} --start 2013-01-08 --end 2013-01-09
  make up                        # Airflow's web page: trigger a backfill of `flights` there
  $EDITOR {DEFINITION}         # the whole definition; docs/airflow.md says how Airflow runs it"""
    )


if __name__ == "__main__":
    sys.exit(main())
