"""Processes by host, number and age, so that another process of the machine can tell
whether a process lives.

A step of a run that had no memory left, for people: which step, which batches, what is whole, and what to
do.
"""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.definition.schedule import Interval
from muntin.errors import OutOfMemoryError
from muntin.tasks.runner import MEND, lack_of_memory

if TYPE_CHECKING:
    from muntin.jobs.records.attempts import Attempt


def this_process() -> tuple[str, int, str]:
    """The host, number and age of this process."""
    return socket.gethostname(), os.getpid(), _age_of(os.getpid()) or ""


def is_gone(process: tuple[str, int, str] | None) -> bool:
    """Whether a process of this machine has ended; a process of another machine counts as alive."""
    if process is None or process[0] != socket.gethostname():
        return False
    return not _is_alive(process[1]) or (_age_of(process[1]) or process[2]) != process[2]


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _age_of(number: int) -> str | None:
    """When a process began, as Linux counts it, with the boot that it counts from; None where that is
    unknown. Numbers come again.
    """
    try:
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return f"{fields[19]}@{_boot()}"
    except (OSError, IndexError):
        return None


@cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()


KILLED = (
    "its process ended without a word: somebody killed it, or the kernel did, as where memory ends; then"
    f" {MEND}"
)
_MOST = 3  # stretches that are named


def out_of_memory(wrong: BaseException, attempt: Attempt) -> OutOfMemoryError | None:
    """The error to raise in place of an error for lack of memory; None: the error has another cause."""
    if (problem := lack_of_memory(wrong)) is None:
        return None
    spans = ", ".join(str(Interval(*span)) for span in attempt.spans[:_MOST]) + (
        ", ..." if len(attempt.spans) > _MOST else ""
    )
    return OutOfMemoryError(
        f"{attempt.step} of {spans}: {problem}. Nothing is lost, and readers see what they saw before;"
        f" {MEND}, and run the same again"
    )


def said(wrong: BaseException) -> BaseException:
    """The error to show of a run: the given error, or a short error that says that memory ended."""
    return wrong if (problem := lack_of_memory(wrong)) is None else OutOfMemoryError(problem)
