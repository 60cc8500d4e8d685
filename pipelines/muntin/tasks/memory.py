"""Lack of memory: found in an error of this process, of SQL or of Spark, and said for people with the work
that it was.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from muntin.definition.spelling import many
from muntin.errors import MuntinError, OutOfMemoryError
from muntin.spark.stopping import java_is_gone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MEND = (
    "give it more memory, or let it hold less at once: shorter intervals in the schedule, or one task at a"
    ' time (taskset -c 0 muntin run ..., --spark "local[1]")'
)
_SQL = "OutOfMemoryException"
_SIGNS = {
    "java.lang.OutOfMemoryError": "Spark's Java had no memory left",
    "Python worker exited unexpectedly": "a Python process of Spark was killed, probably for its memory",
}
_NUMBER = re.compile(r"Task (\d+) in stage")


def lack_of_memory(wrong: BaseException) -> str | None:
    """The lack of memory that an error tells of, in words; None: it tells of something else.

    >>> lack_of_memory(MemoryError("malloc of size 64 failed"))
    'no memory was left (malloc of size 64 failed)'
    """
    if isinstance(wrong, OutOfMemoryError):
        return str(wrong)
    if isinstance(wrong, MemoryError) or type(wrong).__name__ == _SQL:
        said = " ".join(str(wrong).partition("\n")[0].split())
        who = (
            "SQL reached the limit of its memory, which MUNTIN_SQL_MEMORY sets"
            if type(wrong).__name__ == _SQL
            else "no memory was left"
        )
        return f"{who} ({said})" if said else who
    if isinstance(wrong, MuntinError):
        return None
    if java_is_gone():
        return "Spark's Java was killed, probably for its memory"
    return next((words for sign, words in _SIGNS.items() if sign in str(wrong)), None)


def in_memory(work: Callable[[Any], Any], item: Any) -> Any:  # noqa: ANN401 - whatever tasks work on, and give
    """The result of some work; where memory is not enough for it, the error names the item."""
    try:
        return work(item)
    except Exception as wrong:
        if isinstance(wrong, MemoryError) or type(wrong).__name__ == _SQL:
            raise OutOfMemoryError(f"{lack_of_memory(wrong)}{_at(item)}") from wrong
        raise


def killed_task(wrong: Exception, items: Sequence[Any]) -> OutOfMemoryError | None:
    """The error to raise where Spark tells of a lack of memory; with the item of the
    task, if Spark names it.
    """
    if (problem := lack_of_memory(wrong)) is None:
        return None
    match = None if java_is_gone() else _NUMBER.search(str(wrong))
    number = int(match[1]) if match else len(items)
    return OutOfMemoryError(
        f"{problem}, in a job of"
        f" {many(len(items), 'task')}{_at(items[number]) if number < len(items) else ''}"
    )


def _at(item: Any) -> str:  # noqa: ANN401 - whatever tasks work on
    """The work of a task as the end of a line, where its parts have a `label`: the first, and how many more
    there are.
    """
    labels = list(
        dict.fromkeys(
            part.label
            for part in (item if isinstance(item, list | tuple) else [item])
            if hasattr(part, "label")
        )
    )
    return f", at {labels[0]}{f' and {len(labels) - 1} more' if len(labels) > 1 else ''}" if labels else ""
