"""A job that Spark begins only after a signal is stopped, too: else whoever asked for it waits for ever. Real Spark."""

from __future__ import annotations

import os
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING

import pytest

from muntin.spark.stopping import stop_jobs_until

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
TOO_LATE_S = 60


class Ended(Event):
    """Says when the jobs were stopped for the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.stopped_once = Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.stopped_once.set()
        return super().wait(timeout)


def test_a_job_that_begins_after_the_first_time_is_stopped(spark: SparkSession, tmp_path: Path) -> None:
    """
    signal    jobs stopped ......... again ... again
    job                      begins and waits   |     cancelled
    """
    pipe, ended = str(tmp_path / "pipe"), Ended()
    os.mkfifo(pipe)
    stopping = Thread(target=stop_jobs_until, args=(ended,), daemon=True)
    stopping.start()
    ended.stopped_once.wait()
    freed = Timer(TOO_LATE_S, lambda: os.close(os.open(pipe, os.O_RDWR)))  # a job that nobody stops ends all the same
    freed.start()
    try:
        with pytest.raises(Exception, match="cancelled"):
            spark.sparkContext.parallelize([pipe], 1).map(_read).collect()
    finally:
        freed.cancel()
        ended.set()
        stopping.join()


def _read(pipe: str) -> int:
    with open(pipe, "rb") as waits:  # noqa: PTH123 - a worker knows no more than this
        return len(waits.read())
