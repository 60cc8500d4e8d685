"""Tasks in this process: all cores, results in order, the first error, nothing left at work behind an error, a quick end by a signal."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Event, Lock, get_ident
from typing import Any

import pytest

from muntin.errors import SourceError, StateError
from muntin.tasks import Local

FIRST, SECOND = SourceError("the first"), StateError("the second")


def raising(outcome: Any) -> Any:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


# items   0  1  2  3     results in this order, whichever task ends first
def test_results_are_in_the_order_of_the_items() -> None:
    behind = [Event() for _ in range(4)]

    def last_first(item: int) -> int:
        if item < 3:
            behind[item + 1].wait()
        behind[item].set()
        return item

    assert Local(4).run(last_first, range(4)) == [0, 1, 2, 3]


def test_as_many_tasks_run_at_once_as_there_are_cores() -> None:
    both = Barrier(2)  # it breaks unless two tasks wait at it
    assert Local(2).run(lambda item: both.wait(30) * 0 + item, [1, 2]) == [1, 2]


def test_no_more_tasks_run_at_once() -> None:
    lock, at_once, most = Lock(), set[int](), list[int]()

    def noted(_: int) -> None:
        with lock:
            at_once.add(get_ident())
            most.append(len(at_once))
        with lock:
            at_once.discard(get_ident())

    Local(2).run(noted, range(200))
    assert max(most) <= 2


@pytest.mark.parametrize(
    ("outcomes", "raised"), [([1, FIRST, SECOND], FIRST), ([SECOND, FIRST], SECOND), ([1, 2, FIRST], FIRST), ([FIRST], FIRST)]
)
@pytest.mark.parametrize("cores", [1, 3])
def test_the_error_of_the_first_item_that_raised_one(outcomes: list[Any], raised: Exception, cores: int) -> None:
    with pytest.raises(type(raised)) as told:
        Local(cores).run(raising, outcomes)
    assert told.value is raised


def test_no_task_is_at_work_behind_an_error() -> None:
    failed, ended = Event(), list[int]()

    def work(item: int) -> int:
        if item == 0:
            failed.set()
            raise FIRST
        failed.wait()
        ended.append(item)
        return item

    with pytest.raises(SourceError):
        Local(2).run(work, range(5000))
    then = len(ended)
    Local(2).run(lambda _: None, range(100))  # the threads would have come to whatever was left
    assert len(ended) == then


def test_results_are_what_another_process_would_send() -> None:
    assert Local(1).run(lambda item: {"pair": (item, item), 1: None}, [3]) == [{"pair": [3, 3], "1": None}]


def test_nothing_to_do_starts_no_task() -> None:
    assert Local(1).run(raising, []) == []


PROGRAM = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from muntin.cli.main import main
from muntin.tasks import Local

def held(*_, **__):
    if os.environ["WHEN"] == "begun":
        ThreadPoolExecutor.submit = cut_off
    Local(2).run(lambda pipe: Path(pipe).read_text(), [os.environ["PIPE"]] * 2)

def cut_off(*given, submit=ThreadPoolExecutor.submit):
    submit(*given)
    os.kill(os.getpid(), signal.SIGTERM)

import muntin.jobs.reported_run as reported
reported.run_and_tell = held
sys.exit(main())
"""


def ended(folder: Path, when: str, number: signal.Signals) -> None:
    """A command whose task reads a pipe that nobody writes to, for ever, ends by a signal, and says so."""
    pipe, file = folder / "pipe", folder / "dags.py"
    os.mkfifo(pipe)
    file.write_text(DEFINITION)
    words = [sys.executable, "-c", PROGRAM, "run", str(file), "--start", "2024-01-01", "--end", "2024-01-02"]
    environment = os.environ | {"PIPE": str(pipe), "WHEN": when}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment) as command:
        try:
            if when == "waits":
                with pipe.open("w"):  # open as soon as a task reads it
                    command.send_signal(number)
                    assert command.wait(60) == 128 + number
            assert command.wait(60) == 128 + number
        finally:
            command.kill()
        assert command.stderr is not None
        assert command.stderr.read().splitlines()[-1] == "interrupted; run it again, nothing is half done"


# main thread   waits for a task ....... signal, a line, the end
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_whose_task_never_ends(tmp_path: Path, number: signal.Signals) -> None:
    ended(tmp_path, "waits", number)


# main thread   hands out a task, signal before it holds it, a line, the end
def test_a_signal_ends_a_command_that_hands_out_a_task(tmp_path: Path) -> None:
    ended(tmp_path, "begun", signal.SIGTERM)


DEFINITION = """
from datetime import UTC, datetime
from muntin import Pipeline, aggregates as agg, sources, windows

flow = Pipeline(
    name="flow",
    source=sources.files("{start:%Y-%m-%d}.csv", event_time="at"),
    schedule="@daily",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    windows={"day": windows.tumbling("1d")},
    aggregates={"n": agg.count()},
)
"""
