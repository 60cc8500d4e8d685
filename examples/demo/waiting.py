"""Waiting for something with one line that a person can follow."""

import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from examples.demo.background import Component, Program, started
from examples.demo.failure import DemoError
from examples.demo.home import Home
from examples.demo.watch import Inspection, after, begun, deaths, exit_words


class Line:
    """One line that is written over while somebody watches; elsewhere a line whenever it says something new."""

    def __init__(self) -> None:
        self._last = ""
        self._begun = time.monotonic()

    def show(self, text: str) -> None:
        """Show the text, with the seconds since the line began."""
        seconds = f"{time.monotonic() - self._begun:4.0f} s"
        if sys.stdout.isatty():
            print(f"\r\033[K  {seconds}  {text}", end="", flush=True)
        elif text != self._last:
            print(f"  {seconds}  {text}", flush=True)
        self._last = text

    def end(self) -> None:
        """Leave the line as it is, and go on below."""
        if sys.stdout.isatty():
            print(flush=True)


def until(ready: Callable[[], bool], what: str, components: Sequence[Component], folder: Path) -> None:
    """Wait until something is ready; `folder` holds the logs.

    Raises:
        DemoError: a component died, or it takes too long.
    """
    follow(lambda _: Inspection(ready(), what), components, folder, pause_s=0.3)


def finish(program: Program, home: Home, needs: Sequence[Component]) -> None:
    """Run a program to its end.

    Raises:
        DemoError: it fails, what it needs died, or it takes too long.
    """
    with started(program, env=home.env) as (running,):
        until(lambda: running.process.poll() is not None, program.name, needs, home.folder)
    if running.process.returncode:
        raise DemoError(f"{program.name} failed ({exit_words(running.process.returncode)})", program.log)


def follow(inspect: Callable[[str], Inspection], components: Sequence[Component], folder: Path, *, pause_s: float = 1) -> None:
    """Inspect again and again until the work is done. An inspection is told the latest progress, for when it can see none.

    Raises:
        DemoError: a component died, or nothing moves.
    """
    still = begun("", time.monotonic())
    while True:
        check(components)
        seen = inspect(still.progress)
        if seen.done:
            return
        still, due = after(still, seen, time.monotonic())
        if due:
            print(f"\n  {due}; logs are below {folder}", flush=True)
        time.sleep(pause_s)


def check(components: Sequence[Component]) -> None:
    """Nothing, while all components run.

    Raises:
        DemoError: a component died; with its log.
    """
    if died := deaths({each.name: each.process.poll() for each in components}):
        raise DemoError(died, next(each.log for each in components if each.process.returncode is not None))


def answers(port: int) -> bool:
    """Whether something listens on a port of this machine."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
