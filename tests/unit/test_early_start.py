"""A start in the background: the process goes on meanwhile, waits where it needs the session, and is told there what went wrong."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from muntin import Pipeline, sinks, sources, windows
from muntin import aggregates as agg
from muntin.cli import early
from muntin.errors import StateError
from muntin.spark import early_start
from muntin.spark.quick_java import FLAGS, environment, quick
from muntin.spark.quiet_start import quiet_stderr


@pytest.fixture(autouse=True)
def _nothing_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_start, "_begun", [])


def test_the_process_goes_on_until_it_needs_the_session() -> None:
    told: list[str] = []
    may_end = Event()

    def start() -> str:
        may_end.wait(60)
        told.append("started")
        return "session"

    early_start.begin(start)
    told.append("went on")
    may_end.set()
    assert early_start.begun() == "session"
    assert told == ["went on", "started"]
    assert early_start.begun() == "session"


def test_it_is_begun_once() -> None:
    early_start.begin(lambda: "first")
    early_start.begin(lambda: "second")
    assert early_start.begun() == "first"


def test_nothing_begun_is_no_session() -> None:
    assert early_start.begun() is None


def test_what_went_wrong_is_raised_where_it_is_needed_and_once() -> None:
    def start() -> None:
        raise StateError("no Java; install one")

    early_start.begin(start)
    with pytest.raises(StateError, match="no Java; install one"):
        early_start.begun()
    assert early_start.begun() is None


UNFINISHED = """
import subprocess, sys
from threading import Event
from muntin.spark import early_start
started, never = Event(), Event()
def start():
    print(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE).pid, flush=True)
    started.set()
    never.wait()
early_start.begin(start)
started.wait()
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system does not tell a thread's children")
def test_a_process_that_ends_before_leaves_nothing_behind() -> None:
    ended = subprocess.run([sys.executable, "-c", UNFINISHED], capture_output=True, text=True, check=True, timeout=60)
    child = Path("/proc", ended.stdout.strip())
    assert not child.exists() or " Z " in (child / "stat").read_text()


def test_flags_of_the_user_come_last_and_nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:+UseG1GC")
    monkeypatch.delenv("SPARK_LAUNCHER_OPTS", raising=False)
    with environment(quick(os.environ)):
        assert os.environ["SPARK_SUBMIT_OPTS"] == f"{FLAGS} -XX:+UseG1GC"
        assert os.environ["SPARK_LAUNCHER_OPTS"]
    assert os.environ["SPARK_SUBMIT_OPTS"] == "-XX:+UseG1GC"
    assert "SPARK_LAUNCHER_OPTS" not in os.environ


def test_noise_that_comes_in_pieces_is_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    said = quiet_stderr()
    for piece in (b'Setting default log level to "', b'WARN".\nmi', b"ne\n"):
        os.write(said, piece)
    os.close(said)
    told = ""
    while not told.endswith("\n"):
        told += capfd.readouterr().err
    assert told == "mine\n"


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, bool]]:
    """How Java starts, for each start."""
    found: list[dict[str, bool]] = []
    monkeypatch.setattr("muntin.spark.spark_session.begin_local", lambda **how: found.append(how))
    monkeypatch.setattr(early, "_alone", [])
    return found


def defined(**more: Any) -> Pipeline:
    given: dict[str, Any] = {
        "name": "shop",
        "source": sources.files("{start:%Y-%m-%d}.csv", event_time="at"),
        "schedule": "@daily",
        "start": datetime(2020, 1, 1, tzinfo=UTC),
        "windows": {"day": windows.tumbling("1d")},
        "aggregates": {"n": agg.count()},
    }
    return Pipeline(**given | more)


def rows(spark: Any, start: datetime, end: datetime) -> Any: ...


def copied(changes: Any, version: int) -> None: ...


@pytest.mark.parametrize(
    ("more", "briefly", "queries"),
    [
        ({}, True, False),
        ({"expectations": {"day": "day.json"}}, True, True),
        ({"source": sources.spark(rows, event_time="at")}, False, True),
        ({"to": [sinks.spark(copied)]}, False, True),
    ],
)
def test_java_is_started_for_what_the_definition_asks_of_it(
    more: dict[str, Any], briefly: bool, queries: bool, begun: list[dict[str, bool]]
) -> None:
    pipeline = defined(**more)
    early.start_spark_early(pipeline, None)
    assert begun == []  # somebody else's process
    early.alone()
    early.start_spark_early(pipeline, "sc://localhost")
    assert begun == []  # a server's session
    early.start_spark_early(pipeline, None)
    assert begun == [{"briefly": briefly, "queries": queries}]
