"""What a signal makes of a command, without Spark: the status, a line, and the process as it was."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from threading import Event
from weakref import ref

import pytest

from muntin.cli.working import SIGNALS, Interrupted, reached
from tests.cli.conftest import RANGE, Muntin, Project

Plan = Callable[[Callable[[], None]], None]


@pytest.fixture(autouse=True)
def _listening() -> Iterator[None]:
    """What a script starts in the background ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Replace what `muntin plan` does."""
    return lambda work: monkeypatch.setattr("muntin.jobs.inspect.plan.plan", lambda *_, **__: work())


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ([], "interrupted; run it again, nothing is half done"),
        (["accumulate"], "interrupted in step accumulate; nothing of this run was published; run again"),
        (["accumulate", "finalize"], "interrupted in step finalize; nothing of this run was published; run again"),
        (["finalize", "publish"], "interrupted in step publish; what was published before is whole; run again for the rest"),
        (
            ["publish [a, b)", "accumulate [b, c)"],
            "interrupted in step accumulate [b, c); what was published before is whole; run again for the rest",
        ),
    ],
)
def test_the_line_and_the_status(number: int, steps: list[str], line: str, muntin: Muntin, project: Project, plan: Plan):
    def work() -> None:
        for step in steps:
            reached(step)
        send(number)

    plan(work)
    told = muntin(*project.arguments("plan", *RANGE))
    assert (told.status, told.out) == (128 + number, "")
    assert told.err.splitlines()[-1] == line
    assert "Traceback" not in told.err


def test_an_error_that_a_library_makes_of_a_signal_is_no_failure(muntin: Muntin, project: Project, plan: Plan):
    def work() -> None:
        try:
            send(signal.SIGINT)
        except Interrupted:
            raise RuntimeError("Query interrupted") from None

    plan(work)
    told = muntin(*project.arguments("plan", *RANGE))
    assert told.status == 130
    assert "Query interrupted" not in told.err


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_comes_while_an_object_is_freed_is_not_lost(number: int, muntin: Muntin, project: Project, plan: Plan):
    """Python ignores what is raised there. Objects of Java have such callbacks."""

    def work() -> None:
        freed = Event()
        _watched = ref(freed, lambda _: send(number))
        del freed
        Event().wait(60)

    plan(work)
    told = muntin(*project.arguments("plan", *RANGE))
    assert (told.status, told.out) == (128 + number, "")
    assert (told.err.splitlines()[-1], "ignored" in told.err) == ("interrupted; run it again, nothing is half done", False)


def test_such_a_signal_is_not_sent_once_more_where_an_error_followed(muntin: Muntin, project: Project, plan: Plan):
    """By the time that the signal would come again, the process listens as before, and would end."""

    def work() -> None:
        freed = Event()
        _watched = ref(freed, lambda _: send(signal.SIGINT))
        del freed
        raise RuntimeError("Query interrupted")

    plan(work)
    assert muntin(*project.arguments("plan", *RANGE)).status == 130
    assert not [each for each in threading.enumerate() if isinstance(each, threading.Timer)]


def test_an_error_without_a_signal_is_one(muntin: Muntin, project: Project, plan: Plan):
    def work() -> None:
        raise RuntimeError("Query interrupted")

    plan(work)
    assert muntin(*project.arguments("plan", *RANGE)).status == 3


def test_we_listen_again_after_a_library_did(muntin: Muntin, project: Project, plan: Plan):
    """As Spark does when it has started."""

    def work() -> None:
        signal.signal(signal.SIGINT, lambda *_: None)
        reached("accumulate")
        send(signal.SIGINT)

    plan(work)
    assert muntin(*project.arguments("plan", *RANGE)).status == 130


def test_a_signal_that_the_process_ignores_stays_ignored(muntin: Muntin, project: Project, plan: Plan):
    def work() -> None:
        reached("accumulate")
        send(signal.SIGINT)
        raise RuntimeError("it went on")

    plan(work)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        told = muntin(*project.arguments("plan", *RANGE))
    finally:
        signal.signal(signal.SIGINT, before)
    assert (told.status, "it went on" in told.err) == (3, True)


def test_the_process_listens_as_before(muntin: Muntin, project: Project, plan: Plan):
    before = [*map(signal.getsignal, SIGNALS), sys.unraisablehook]
    plan(lambda: send(signal.SIGTERM))
    muntin(*project.arguments("plan", *RANGE))
    assert [*map(signal.getsignal, SIGNALS), sys.unraisablehook] == before


def test_spark_is_told_to_stop_its_jobs(muntin: Muntin, project: Project, plan: Plan, monkeypatch: pytest.MonkeyPatch):
    stopped: list[str] = []

    class Spark:
        class SparkContext:
            class _active_spark_context:  # noqa: N801 - Spark's name
                @staticmethod
                def cancelAllJobs() -> None:  # noqa: N802 - Spark's name
                    stopped.append("all")

    monkeypatch.setitem(__import__("sys").modules, "pyspark", Spark)
    plan(lambda: send(signal.SIGTERM))
    assert muntin(*project.arguments("plan", *RANGE)).status == 143
    assert stopped == ["all"]
