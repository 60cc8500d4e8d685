"""Tasks in this process: a thread for each core.

DuckDB, Arrow and the kernels compute without holding Python's lock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from muntin.definition.spelling import many
from muntin.tasks.runner import in_memory

_abandoned: list[ThreadPoolExecutor] = []


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Local:
    """Runs tasks in this process, at most `parallelism` at once: memory is bounded as on a worker with so
    many cores.
    """

    parallelism: int = field(default_factory=cores)
    spark: None = None

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """See `Runner`.

        Who interrupts this waits for no task; whatever else is raised, no task is at work behind it.
        """
        tasks = list[Future[Any]]()
        try:
            for item in items:
                tasks.append(_threads(self.parallelism).submit(_plain, work, item))
            return [task.result() for task in tasks]
        except Exception:
            for task in tasks:
                task.cancel()
            for task in tasks:
                if not task.cancelled():
                    task.exception()
            raise
        except BaseException:
            from muntin.sources.sessions.time_limit import interrupt_all

            _abandoned.append(_threads(self.parallelism))
            _threads.cache_clear()
            _abandoned[-1].shutdown(wait=False, cancel_futures=True)
            interrupt_all()
            raise

    def __str__(self) -> str:
        return f"in this process, on {many(self.parallelism, 'core')}"


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    """Threads that stay: each keeps its sessions of DuckDB for the next task."""
    return ThreadPoolExecutor(count, thread_name_prefix="muntin task")


def _plain(work: Callable[[Any], Any], item: Any) -> Any:  # noqa: ANN401 - whatever the work gives
    """The result as it would come back from another process."""
    return json.loads(json.dumps(in_memory(work, item)))


def may_be_at_work() -> bool:
    """Whether a task whose answer is no longer needed may still compute."""
    return bool(_abandoned)
