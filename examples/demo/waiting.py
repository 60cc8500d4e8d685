"""Waiting for something with one line that a person can follow."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from examples.demo.failure import DemoError


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

    def end(self, text: str) -> None:
        """The last that is shown."""
        self.show(text)
        if sys.stdout.isatty():
            print(flush=True)


def until(ready: Callable[[], bool], what: str, *, program: subprocess.Popen[bytes], log: Path, patience_s: float = 300) -> None:
    """Wait until something is ready.

    Raises:
        DemoError: the program it depends on ended, or it takes too long.
    """
    limit = time.monotonic() + patience_s
    while not ready():
        if program.poll() is not None:
            raise DemoError(f"{what}: the program ended with status {program.returncode}", log)
        if time.monotonic() > limit:
            raise DemoError(f"{what}: not ready after {patience_s:.0f} s", log)
        time.sleep(0.5)


def answers(port: int) -> bool:
    """Whether something listens on a port of this machine."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
