"""Spark's Python daemon with the engine imported once: workers are forks of it.

Named by `spark.python.daemon.module`; everything else is Spark's own.
"""

import duckdb  # noqa: F401 - imported for the forks
import pyarrow.dataset
import pyarrow.parquet  # noqa: F401 - imported for the forks
from pyspark.daemon import manager

import pipelines.engine.chains
import pipelines.engine.combine
import pipelines.engine.exact
import pipelines.engine.fold
import pipelines.engine.grid
import pipelines.engine.labels
import pipelines.engine.select
import pipelines.jobs.accumulate_task
import pipelines.jobs.finalize_task  # noqa: F401 - imported for the forks

if __name__ == "__main__":
    manager()
