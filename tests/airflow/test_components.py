"""A real scheduler, killed: whoever waits for Airflow hears of it within seconds. Nothing is left behind."""

import re
import time
from collections.abc import Iterable
from pathlib import Path

import psutil
import pytest

from examples.demo.backfills import small_airflow
from examples.demo.background import family_of
from examples.demo.failure import DemoError, report
from examples.demo.watch import Inspection
from tests.case_counts import at_length

SECONDS = 10
LINES = 15


def listening_at(pids: Iterable[int]) -> set[str]:
    """The addresses at which programs and those that they started listen."""
    every = [each for pid in pids for each in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True))]
    return {found.laddr.ip for each in every for found in each.net_connections("inet") if found.status == psutil.CONN_LISTEN}


@at_length
@pytest.mark.timeout(900)
def test_a_dead_scheduler_is_named_within_seconds_and_nothing_is_left(tmp_path: Path):
    with small_airflow(tmp_path, 1) as running:
        pids = {each.name: each.process.pid for each in running.components}
        assert listening_at(pids.values()) == {"127.0.0.1"}
        next(each.process for each in running.components if each.name == "the scheduler").kill()
        killed_at = time.monotonic()
        with pytest.raises(DemoError) as wrong:
            running.follow(lambda _: Inspection(done=False, progress="at work"))
        assert time.monotonic() - killed_at < SECONDS
        assert running.api.get("dags/week_0")  # the web server answers, as if all were well

    assert list(pids) == ["the database", "the scheduler", "the DAG processor", "the triggerer", "the web server"]
    first, end_of, *lines, where = report(wrong.value, tmp_path).strip().splitlines()
    assert first == "the scheduler died (exit code -9, by SIGKILL)"
    assert re.fullmatch(r"the end of .*/scheduler\.log:", end_of)
    assert 0 < len(lines) <= LINES
    assert where == f"all logs are below {tmp_path}"

    assert not any(family_of(pid) for pid in pids.values())
    assert not running.home.database.parent.exists()
