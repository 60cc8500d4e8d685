"""What Java and Spark say on stderr while a local session starts, left out: none of it is for the user."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOISE = re.compile(
    rb"WARNING: Using incubator modules"
    rb"|Using Spark's default log4j profile"
    rb"|Setting default log level to"
    rb"|Setting Spark log level to"
    rb"|To adjust logging level use"
    rb"|\d\d/\d\d/\d\d \d\d:\d\d:\d\d (WARN|INFO) "
)


def without_noise(text: bytes) -> bytes:
    r"""The lines that are not of Spark's start.

    >>> without_noise(b'Using Spark\'s default log4j profile: x\nmine\n26/01/31 10:00:00 WARN Utils: y\n')
    b'mine\n'
    """
    return b"".join(line for line in text.splitlines(keepends=True) if not _NOISE.match(line))


@contextmanager
def quiet_start() -> Iterator[None]:
    """A process that is started meanwhile writes to stderr as ever, but for the noise."""
    sys.stderr.flush()
    kept, writing = os.dup(2), quiet_stderr()
    os.dup2(writing, 2)
    os.close(writing)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def quiet_stderr() -> int:
    """A stream for a process that is started: what comes there goes to stderr, but for the noise. The caller closes it."""
    reading, writing = os.pipe()
    Thread(target=_pass_on, args=(reading, os.dup(2)), daemon=True).start()
    return writing


def _pass_on(reading: int, out: int) -> None:
    """Line by line: Spark says one in pieces."""
    with suppress(OSError), os.fdopen(reading, "rb") as lines:  # the terminal is gone
        for line in lines:
            os.write(out, without_noise(line))
