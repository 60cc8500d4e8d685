"""Spark's Python daemon with the engine imported once: workers are forks of it.

Named by `spark.python.daemon.module`; everything else is Spark's own. With `MUNTIN_KEEP_MEMORY=off` in its environment a worker gives
memory back as soon as it is free, for machines with little of it.
"""

import ctypes
import os
from contextlib import suppress

# Workers free and take the same hundred megabytes with every task: kept, they cost no page faults (glibc, mimalloc).
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEEPS = os.environ.get("MUNTIN_KEEP_MEMORY") != "off"
if _KEEPS:
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").mallopt(_MMAP_THRESHOLD, 1 << 30)
        ctypes.CDLL("libc.so.6").mallopt(_TRIM_THRESHOLD, (1 << 31) - 1)
os.environ.setdefault("MIMALLOC_PURGE_DELAY", "-1" if _KEEPS else "0")

import duckdb  # noqa: E402, F401 - imported for the forks, after the settings above
import pyarrow.dataset  # noqa: E402
import pyarrow.parquet  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

import pipelines.jobs.run.accumulate_task  # noqa: E402
import pipelines.jobs.run.finalize_task  # noqa: E402, F401
from pipelines.engine.event_time import chains, disjoint, grid  # noqa: E402, F401
from pipelines.engine.reduce import exact, fold, select  # noqa: E402, F401
from pipelines.states import text_hashes  # noqa: E402, F401

if __name__ == "__main__":
    manager()
