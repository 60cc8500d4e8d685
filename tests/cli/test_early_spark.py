"""The first run of a fresh process: Java starts while the definition is checked, and a Python imports for the workers beside it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import RANGE, Project
from tests.cluster.standalone import eventually

pytestmark = pytest.mark.spark

CHECKOUT = Path(__file__).parents[2]

# The command, with Java that is not waited for before the check of the definition has begun, and with notes of what came when.
NOTED = """
import json, sys
from pathlib import Path
from threading import Event, current_thread

import pyspark.java_gateway as gateway
import muntin.jobs.run.run as run
import muntin.cli.main

told, checked = [], Event()
launch, check, accumulate = gateway.launch_gateway, run.check, run.accumulate

def launched(*words):
    told.append("Java begins")
    java = launch(*words)
    assert checked.wait(120), "nobody checks the definition before Java is there"
    told.append("Java is there")
    return java

def checked_now(*words, **more):
    told.append("check")
    checked.set()
    return check(*words, **more)

def accumulated(bound, spark, *words, **more):
    from pyspark.sql import SparkSession
    from muntin.spark.tasks import run_tasks
    bean = spark.sparkContext._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
    told.append({
        "session": SparkSession._instantiatedSession is not None,
        "rows": spark.range(3).count(),
        "same": SparkSession.getActiveSession()._jsparkSession == spark._jsparkSession,
        "flags": [*bean.getInputArguments()],
        "worker": run_tasks(spark, about_worker, [0])[0],
    })
    return accumulate(bound, spark, *words, **more)

def about_worker(_):
    import psutil
    early = psutil.Process().parent().parent()
    return {"early": early.pid, "words": early.cmdline(), "numba": "numba.np.arraymath" in __import__("sys").modules}

gateway.launch_gateway, run.check, run.accumulate = launched, checked_now, accumulated
status = muntin.cli.main.main()
print(json.dumps(told))
sys.exit(status)
"""


def environment(project: Project, **more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": f"{CHECKOUT}", "TMPDIR": str(project.folder)} | more


def test_java_starts_while_the_definition_is_checked(project: Project) -> None:
    words = [sys.executable, "-c", NOTED, *project.arguments("run", *RANGE)]
    ran = subprocess.run(words, env=environment(project), capture_output=True, text=True, check=False, timeout=170)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    about = next(one for one in told if isinstance(one, dict))
    assert told.index("check") < told.index("Java is there") < told.index(about), told
    assert not about["session"], "tasks are handed out without all that plans queries"
    assert about["rows"] == 3, "which is there when it is asked for"
    assert about["same"]
    assert "-XX:+NeverActAsServerClassMachine" in about["flags"]
    assert "--early" in about["worker"]["words"], "workers are forks of the Python that imported while Java started"
    assert about["worker"]["numba"], "a worker imports what numba needs by itself"
    eventually(lambda: not psutil.pid_exists(about["worker"]["early"]), "the early Python has ended")
    assert not list(project.folder.glob("muntin-python-*"))


# A Java that says that it is there, and then nothing more.
WAITING_JAVA = """#!/bin/sh
echo $PPID > {said}
exec sleep 300
"""


@contextmanager
def starting(project: Project, **words: str) -> Iterator[subprocess.Popen[str]]:
    """A run whose Java is being started, for ever."""
    said = project.folder / "said"
    os.mkfifo(said)
    java = project.folder / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(WAITING_JAVA.format(said=said))
    java.chmod(0o755)
    program = [sys.executable, "-m", "muntin", *project.arguments("run", *RANGE)]
    env = environment(project, JAVA_HOME=str(java.parents[1]), **words)
    with subprocess.Popen(
        program, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=CHECKOUT
    ) as ran:
        said.read_text()
        yield ran


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_java_starts_ends_in_a_line(number: signal.Signals, project: Project) -> None:
    with starting(project) as ran:
        children = psutil.Process(ran.pid).children()
        (os.killpg if number == signal.SIGINT else os.kill)(ran.pid, number)
        out, err = ran.communicate(timeout=200)
    assert (ran.returncode, out) == (128 + number, "")
    assert err.splitlines()[-1] == "interrupted in step start Spark; nothing of this run was published; run again"
    assert "Traceback" not in err
    assert "muntin" not in err
    assert len(children) == 2, "Java's and the early Python"
    for child in children:
        eventually(lambda child=child: not child.is_running(), f"{child} has ended")


def test_a_wrong_definition_does_not_wait_for_java(project: Project) -> None:
    project.define(**{'agg.sum("value")': 'agg.sum("valeu")'})
    with starting(project) as ran:
        out, err = ran.communicate(timeout=200)
    assert (ran.returncode, out) == (2, "")
    assert "sum(valeu) does not fit the source" in err.splitlines()[-1]


# A Java that fails the first time it is called.
FAILING_JAVA = """#!/bin/sh
mkdir {folder}/tried 2>/dev/null && exit 1
exec {java}/bin/java "$@"
"""


def test_a_java_that_fails_in_the_background_is_started_once_more(project: Project) -> None:
    java = project.folder / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(FAILING_JAVA.format(folder=project.folder, java=os.environ["JAVA_HOME"]))
    java.chmod(0o755)
    words = [sys.executable, "-m", "muntin", *project.arguments("run", *RANGE)]
    env = environment(project, JAVA_HOME=str(java.parents[1]))
    ran = subprocess.run(words, env=env, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=170)
    assert ran.returncode == 0, ran.stderr
    assert (project.folder / "tried").exists()
    assert "Spark did not start in the background (PySparkRuntimeError: [JAVA_GATEWAY_EXITED]" in ran.stderr
