"""`python -m tests.cluster.driver ADDRESS FOLDER ROOT`: the history of tests on a cluster, or over Spark Connect. Prints each step."""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from muntin import run
from muntin.extensions.zygote import DAEMON
from tests.cluster.events import END, START, pipeline


def session(address: str) -> SparkSession:
    """Workers of one core and little memory; a task that dies with its worker runs again elsewhere."""
    if address.startswith("sc://"):
        return SparkSession.builder.remote(address).getOrCreate()
    settings = {
        "spark.executor.memory": "600m",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.python.daemon.module": DAEMON,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    return SparkSession.builder.master(address).appName("muntin").config(map=settings).getOrCreate()


def main(address: str, folder: str, root: str) -> None:
    report = run(
        pipeline(Path(folder)), root=root, start=START, end=END, spark=session(address), progress=lambda step: print(step, flush=True)
    )
    print("rows", sum(batch.rows_read for batch in report.batches), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
