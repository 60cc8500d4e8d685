"""Airflow and Spark for a while: a Spark Connect server, and Airflow's four components."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from examples.demo.api import NO_ANSWER, Api, has_dag, is_up, sign_in
from examples.demo.background import Component, Program, started
from examples.demo.home import Home, airflow, spark_server
from examples.demo.waiting import answers, follow, until
from examples.demo.watch import Inspection

NO_LOG_SERVER = ("--skip-serve-logs",)  # it would listen on all addresses; the web server reads the files
# As people call them, and as Airflow's command line does.
PARTS = {
    "the scheduler": ("scheduler", *NO_LOG_SERVER),
    "the DAG processor": ("dag-processor",),
    "the triggerer": ("triggerer", *NO_LOG_SERVER),
    "the web server": ("api-server",),
}
POLL_S = 10  # a slow web server must not hide for long that another component died


@dataclass(frozen=True, slots=True)
class Airflow:
    """A running Airflow: its API, and everything that has to live for its runs to go on."""

    home: Home
    api: Api
    components: tuple[Component, ...]

    def follow(self, inspect: Callable[[Api], Inspection]) -> None:
        """Inspect every second until the work is done; an inspection that the web server leaves without an answer saw no progress.

        Raises:
            DemoError: a component died, or nothing moves.
        """
        hasty = replace(self.api, patience_s=POLL_S)

        def answered(before: str) -> Inspection:
            try:
                return inspect(hasty)
            except NO_ANSWER as wrong:
                return Inspection(done=False, progress=before, remark=f"the web server does not answer: {wrong}")

        follow(answered, self.components, self.home.folder)


@contextmanager
def spark(home: Home) -> Iterator[Component]:
    """A Spark Connect server. It starts while other things are done."""
    program = Program("the Spark Connect server", spark_server(home.spark_port), home.logs / "spark.log")
    with started(program, env=home.env) as (server,):
        yield server


def until_spark(home: Home, server: Component) -> None:
    """Wait until the Spark Connect server answers.

    Raises:
        DemoError: it died, or it takes too long.
    """
    until(lambda: answers(home.spark_port), server.name, [server], home.folder)


@contextmanager
def scheduling(home: Home, dag_id: str, *needs: Component) -> Iterator[Airflow]:
    """Airflow's four components on a migrated database, ready and with the DAG read; what they need is watched with them."""
    programs = [Program(name, airflow(*part), home.logs / f"{part[0]}.log") for name, part in PARTS.items()]
    with started(*programs, env=home.env) as parts:
        components = (*needs, *parts)
        until(lambda: is_up(home), "Airflow starts", components, home.folder)
        api = sign_in(home)
        until(lambda: has_dag(api, dag_id), f"Airflow reads the DAG {dag_id}", components, home.folder)
        yield Airflow(home, api, components)
