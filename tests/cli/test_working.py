"""What a person, a log and stdout see while a command works."""

import io
import os
from collections.abc import Callable

import pytest

from muntin.cli import working as watched
from muntin.cli.working import working


def test_a_line_a_step_where_nobody_watches(capfd: pytest.CaptureFixture[str]):
    with working("first", "second") as tell:
        tell("first")
        tell("second")
    printed = capfd.readouterr()
    assert [line.split()[-1] for line in printed.err.splitlines()] == ["first", "second"]
    assert "\x1b" not in printed.err
    assert printed.out == ""


def test_stdout_is_kept_for_the_result(capfd: pytest.CaptureFixture[str]):
    with working():
        print("from Python")
        os.write(1, b"from below\n")
    print("the result")
    printed = capfd.readouterr()
    assert printed.out == "the result\n"
    assert {"from Python", "from below"} <= set(printed.err.splitlines())


def test_stdout_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]):
    with pytest.raises(ValueError, match="broken"), working():
        raise ValueError("broken")
    print("still there")
    assert capfd.readouterr().out == "still there\n"


class Terminal(io.StringIO):
    """A person in front of stderr."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Clock:
    """A timer whose time has come at once."""

    daemon = False

    def __init__(self, _delay_s: float, begin: Callable[[], None]) -> None:
        self.begin = begin

    def start(self) -> None:
        self.begin()

    def cancel(self) -> None:
        """Too late."""

    def join(self) -> None:
        """Nothing runs."""


class Stopped(Clock):
    """A timer whose time never comes."""

    def start(self) -> None:
        """Wait for ever."""


def watch(monkeypatch: pytest.MonkeyPatch, clock: type[Clock]) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr(watched, "Timer", clock)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    return terminal


def test_a_bar_where_a_person_watches(monkeypatch: pytest.MonkeyPatch):
    terminal = watch(monkeypatch, Clock)
    with working("first", "second") as tell:
        tell("first")
        tell("second")
    assert "second" in terminal.getvalue()
    assert "\x1b" in terminal.getvalue()


def test_no_bar_for_what_is_over_soon(monkeypatch: pytest.MonkeyPatch):
    terminal = watch(monkeypatch, Stopped)
    with working("first"):
        pass
    assert terminal.getvalue() == ""


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch):
    terminal = watch(monkeypatch, Clock)
    monkeypatch.setenv("TERM", "dumb")
    with working("first") as tell:
        tell("first")
    assert terminal.getvalue().endswith("first\n")
