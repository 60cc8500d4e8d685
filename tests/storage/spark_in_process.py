"""A session that runs Spark's tasks in this process: what a crash or a full disk does to a run does not depend on Spark."""

from types import SimpleNamespace

from muntin.testing.in_process import Context


class Here:
    """As much of a SparkSession as the jobs use."""

    sparkContext = SimpleNamespace(defaultParallelism=2, parallelize=Context.parallelize)  # noqa: N815 - Spark's name
