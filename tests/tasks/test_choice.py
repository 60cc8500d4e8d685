"""Who runs tasks: what the caller says, else the Spark that is there, else the Spark that is needed, else this process."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from muntin.errors import DefinitionError, StateError
from muntin.tasks import Local, place_of, runner_for
from muntin.tasks.spark import OnSpark

SESSION: Any = SimpleNamespace()
HERE = str(Local())


@pytest.fixture(autouse=True)
def _nothing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.tasks.choice._active", lambda: None)  # the session of other tests
    monkeypatch.delenv("SPARK_REMOTE", raising=False)


# given          active    SPARK_REMOTE  needed    where
CASES = [
    (None, None, None, None, HERE),
    (None, None, None, "sources.spark", "on Spark (local[*]), for sources.spark"),
    (None, None, "sc://far", None, "on Spark (sc://far)"),
    (None, SESSION, "sc://far", None, "on Spark (of this process)"),
    (None, SESSION, None, "sources.spark", "on Spark (of this process), for sources.spark"),
    ("local[2]", SESSION, "sc://far", None, "on Spark (local[2])"),
    ("spark://far:7077", None, None, "sinks.spark", "on Spark (spark://far:7077)"),
    ("yarn", None, None, None, "on Spark (yarn)"),
    ("k8s://https://far:6443", None, None, None, "on Spark (k8s://https://far:6443)"),
    (Local(3), SESSION, "sc://far", None, "in this process, on 3 cores"),
    (Local(1), None, None, None, "in this process, on 1 core"),
    (SESSION, None, "sc://far", None, "on Spark (of this process)"),
]


@pytest.mark.parametrize(("given", "active", "remote", "needed", "where"), CASES)
def test_where_tasks_run(
    monkeypatch: pytest.MonkeyPatch, given: Any, active: Any, remote: str | None, needed: str | None, where: str
) -> None:
    monkeypatch.setattr("muntin.tasks.choice._active", lambda: active)
    if remote:
        monkeypatch.setenv("SPARK_REMOTE", remote)
    assert place_of(given, needed=needed) == where


@pytest.mark.parametrize("given", ["http://far", "far:7077", "sparks://far", "/usr/spark", "k8s"])
def test_an_address_of_no_spark_is_refused(given: str) -> None:
    with pytest.raises(DefinitionError, match=r"is no address of Spark; write local\[\*\], spark://"):
        place_of(given)


def test_a_runner_without_spark_does_not_do_where_spark_is_needed() -> None:
    with (
        pytest.raises(DefinitionError, match="needs Spark, and there is none here"),
        runner_for(Local(), needed="sources.spark"),
    ):
        pass


def test_a_session_is_used_as_it_is() -> None:
    with runner_for(SESSION) as runner:
        assert isinstance(runner, OnSpark)
        assert runner.spark is SESSION


@pytest.mark.parametrize("address", ["sc://127.0.0.1:1", "sc://localhost:1/;token=hunter2"])
def test_a_server_that_is_not_up_is_named_and_no_token(address: str) -> None:
    with pytest.raises(StateError, match=r"nobody answers at .*:1 .*; is the Spark Connect server up\?") as told, runner_for(address):
        pass
    assert "hunter2" not in f"{told.value} {place_of(address)}"


def test_an_address_without_a_host_is_refused() -> None:
    with pytest.raises(DefinitionError, match="names no host; write sc://localhost:15002"), runner_for("sc://"):
        pass


def test_nothing_of_spark_is_imported_to_choose_this_process() -> None:
    program = "import sys; from muntin.tasks import runner_for\nwith runner_for() as r: print(r.run(len, ['ab']), 'pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[2] False\n"


@pytest.mark.spark
def test_the_active_session_is_found_and_another_master_is_refused(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with runner_for() as runner:
        assert runner.spark.sparkContext is spark.sparkContext  # another test may have made a session of it
        assert runner.run(len, ["ab", "c"]) == [2, 1]
    with pytest.raises(StateError, match=r"has a Spark at local\[2\]; stop it before you ask for local\[7\]"), runner_for("local[7]"):
        pass
    with runner_for("local[2]") as runner:
        assert runner.run(len, ["abc"]) == [3]
