"""Two sessions of a Connect server: workers are forks of one process that has imported everything, and each session has its own folder."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from examples.demo.home import make_home
from examples.demo.servers import spark, until_spark
from tests.cluster.standalone import eventually

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

# each session in turn: a worker, its forebears, its folder; then that of a second task, after an error of the first worker's function
CLIENT = """
import json, sys
from pyspark.sql import SparkSession
from muntin.errors import SourceError
from muntin.tasks.spark import OnSpark

def seen(_):
    import os, psutil, sys
    return [[each.pid for each in (psutil.Process(), *psutil.Process().parents())], os.getcwd(), "numba" in sys.modules]

def refused(_):
    from muntin.errors import SourceError
    raise SourceError("not this one")

for session in range(2):
    spark = SparkSession.builder.remote(sys.argv[1]).create()
    found = OnSpark(spark).run(seen, [1])
    try:
        OnSpark(spark).run(refused, [1])
    except SourceError as wrong:
        print(json.dumps([*found, str(wrong)]), flush=True)
    spark.stop()
"""


def test_sessions_share_what_is_imported_and_leave_nothing(tmp_path: Path) -> None:
    home = make_home(tmp_path, state=Path("unused"))
    with spark(home) as program:
        until_spark(home, program)
        done = subprocess.run([sys.executable, "-c", CLIENT, home.spark], env=home.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        ((one, own, ready), wrong), ((two, other, _), _) = map(json.loads, done.stdout.splitlines())
        assert ready
        assert wrong == "not this one"
        assert own != other
        assert one[:2] != two[:2]  # a worker and a daemon for each session
        assert one[2] == two[2]  # and one process that has imported everything
        running = [psutil.Process(pid) for pid in {*one[:3], *two[:3]}]
    eventually(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in running), "all end with the server")
