"""The interface of runners: how tasks are run.

Modules that travel to Spark's workers with their code: modules beside a definition, which workers cannot
import.

Lack of memory: found in an error of this process, of SQL or of Spark, and said for people with the work
that it was.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from muntin.definition.spelling import many
from muntin.errors import MuntinError, OutOfMemoryError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession
_OURS = Path(__file__).parents[1]
_folders: set[Path] = set()


def ship_by_value(folder: Path) -> None:
    """From now on, functions and classes of modules in a folder travel with their code."""
    _folders.add(folder)


def register() -> None:
    """Tell Spark's pickler of all such modules that are imported."""
    from pyspark import cloudpickle

    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        if file and _is_of_a_definition(Path(file)):
            cloudpickle.register_pickle_by_value(module)


def _is_of_a_definition(file: Path) -> bool:
    """Whether a module lies beside a definition, and is not of an environment that lies there, too: workers
    have its packages.
    """
    installed = file.is_relative_to(sys.prefix) or "site-packages" in file.parts or file.is_relative_to(_OURS)
    return not installed and any(file.is_relative_to(folder) for folder in _folders)


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
    from muntin.spark.stopping import java_is_gone

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
    from muntin.spark.stopping import java_is_gone

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


class Runner(Protocol):
    """Runs a function on many items, a task for each.

    Attributes:
        parallelism: how many tasks can run at once.
        spark: the session, for what Spark itself reads, judges or writes; None: there is no Spark.
    """

    @property
    def parallelism(self) -> int: ...

    @property
    def spark(self) -> SparkSession | None: ...

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """`[work(item) for item in items]`; results are plain values, as JSON has them.

        The error of the first item that raised one is raised, in its own type.
        """
        ...

    def __str__(self) -> str:
        """The place where tasks run, for people."""
        ...
