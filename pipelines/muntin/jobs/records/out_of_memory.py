"""A step of a run that had no memory left, for people: which step, which batches, what is whole, and what to
do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.schedule import Interval
from muntin.errors import OutOfMemoryError
from muntin.tasks.runner import MEND, lack_of_memory

if TYPE_CHECKING:
    from muntin.jobs.records.attempts import Attempt

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
