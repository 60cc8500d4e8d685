"""`python -m examples.up`, or `make up`: Airflow with its web page on 127.0.0.1, to look around, until Ctrl-C."""

import sys
import time

from examples.demo.background import interruptible
from examples.demo.database import database, migrate
from examples.demo.failure import DemoError, report
from examples.demo.home import PROJECT, Home, make_home
from examples.demo.servers import scheduling, spark, until_spark
from examples.demo.waiting import answers, check
from examples.flights_log import FOLDER, write_flights_log

FOLDER_OF_UP = PROJECT / ".airflow"
PORT = 8080


def main() -> int:
    """Run until Ctrl-C; the exit status."""
    interruptible()
    try:
        up()
    except DemoError as wrong:
        print(report(wrong, FOLDER_OF_UP), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; what was computed stays in state/, Airflow's own things in .airflow/")
    return 0


def up() -> None:
    """Start everything, say where it is, wait."""
    print("Starting Airflow and Spark, half a minute or so...", flush=True)
    if not any((PROJECT / FOLDER).glob("*.parquet")):
        write_flights_log(PROJECT / FOLDER)
    home = make_home(FOLDER_OF_UP, state=PROJECT / "state", port=None if answers(PORT) else PORT)
    with spark(home) as server, database(home, kept=FOLDER_OF_UP / "database") as postgres:
        migrate(home, postgres)
        until_spark(home, server)
        with scheduling(home, "flights", postgres, server) as running:
            print(welcome(home), flush=True)
            while True:
                check(running.components)
                time.sleep(1)


def welcome(home: Home) -> str:
    """Where to look and what to try."""
    return f"""
Airflow is at {home.url}
  user admin, password {home.password}

Try: the DAG `flights`, Trigger, "Run this Dag for a range of dates", from 2013-01-01 to 2013-01-07.
Then: Browse, Windows, or the tab Windows of the DAG, for what came of it.
Nothing runs by itself here: 2013 lies far in the past, and catching up would begin thousands of runs.
Logs are in {home.logs}; Ctrl-C stops everything."""


if __name__ == "__main__":
    sys.exit(main())
