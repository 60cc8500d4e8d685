"""Spark's Python daemon with the engine imported once: workers are forks of it.

Named by `spark.python.daemon.module`; everything else is Spark's own. With `MUNTIN_KEEP_MEMORY=off` in its
environment a worker gives memory back as soon as it is free, for machines with little of it. With
`MUNTIN_ZYGOTE=off` each session of Spark Connect imports anew, as Spark does without Muntin; else they share
the zygote (`muntin.extensions.zygote.shared`).
"""

import ctypes
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

# Workers free and take the same hundred megabytes with every task: kept, they cost no page faults (glibc,
# mimalloc).
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_TASKS_USE = (
    "duckdb",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "pyspark.daemon",
    "muntin.jobs.accumulate.accumulate_task",
    "muntin.jobs.accumulate.accumulate_bundle",
    "muntin.jobs.accumulate.slot_lift",
    "muntin.jobs.finalize.finalize_task",
)
_COMPILED = (
    *(f"muntin.engine.event_time.{name}" for name in ("chains", "disjoint", "grid")),
    *(f"muntin.engine.reduce.{name}" for name in ("exact", "fold", "select")),
    "muntin.states.order_kernels",
)


def load() -> None:
    """Set how memory is given back, then import what tasks use."""
    # A threshold that is set does not grow: glibc's own would, so that columns come to lie between small
    # things, and stay when freed.
    keeps = os.environ.get("MUNTIN_KEEP_MEMORY") != "off"
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").mallopt(_MMAP_THRESHOLD, 1 << 30 if keeps else 1 << 18)
        ctypes.CDLL("libc.so.6").mallopt(_TRIM_THRESHOLD, (1 << 31) - 1 if keeps else 1 << 18)
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "-1" if keeps else "0")

    for name in _TASKS_USE:
        import_module(name)
    load_compiled_code()
    # Spark collects garbage after each task: to scan what was imported takes a tenth of a second, and copies
    # its pages
    gc.freeze()


def load_compiled_code() -> None:
    """Import the functions that are compiled, and what numba imports before it loads the first of them: a
    second, for each worker.
    """
    for name in _COMPILED:
        import_module(name)
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def work() -> None:
    """The work of Spark's daemon: fork a worker for each request."""
    from pyspark.daemon import manager

    from muntin.extensions.zygote.quick_answers import answer_at_once

    answer_at_once()
    manager()


def main() -> None:
    """Be the daemon of a session, or have a Python be it that has imported already."""
    from muntin.extensions.zygote.quick_answers import use_folders
    from muntin.extensions.zygote.shared import is_of_a_session, key, run

    use_folders()
    if is_of_a_session() and os.environ.get("MUNTIN_ZYGOTE") != "off":
        with suppress(OSError):
            run(load, work, key(Path(__file__).parents[1], sys.path))
            return
    load()
    work()


if __name__ == "__main__":
    main()
