"""Airflow and Spark for a while: a Spark Connect server, a migrated database, `airflow standalone`."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from examples.demo.api import Api, has_dag, is_up, sign_in
from examples.demo.background import started
from examples.demo.failure import DemoError
from examples.demo.home import Home, airflow, spark_server
from examples.demo.waiting import answers, until


@contextmanager
def spark(home: Home) -> Iterator[Callable[[], None]]:
    """A Spark Connect server; yields what to call before it is needed. It starts while other things are done."""
    log = home.logs / "spark.log"
    with started(spark_server(home.spark_port), home.env, log) as server:
        yield lambda: until(lambda: answers(home.spark_port), "the Spark Connect server", program=server, log=log)


def migrate(home: Home) -> None:
    """Make Airflow's database, or bring it up to date.

    Raises:
        DemoError: that does not work.
    """
    log = home.logs / "migrate.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out:
        done = subprocess.run(airflow("db", "migrate"), env=home.env, stdout=out, stderr=out, check=False)
    if done.returncode:
        raise DemoError("airflow db migrate failed", log)


@contextmanager
def standalone(home: Home, dag_id: str) -> Iterator[Api]:
    """Airflow's scheduler, DAG processor, triggerer and web server, ready and with the DAG read."""
    log = home.logs / "airflow.log"
    with started(airflow("standalone"), home.env, log) as program:
        until(lambda: is_up(home), "Airflow", program=program, log=log)
        api = sign_in(home)
        until(lambda: has_dag(api, dag_id), f"the DAG {dag_id}", program=program, log=log)
        yield api
