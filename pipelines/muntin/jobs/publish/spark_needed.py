"""Why a run needs Spark:

Spark reads or writes rows, or alone judges a suite. All else this process can do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.sources.spark_frames import SparkSource

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline


def rows_need_spark(pipeline: Pipeline) -> str | None:
    """The parts of the definition that give rows to Spark or take them, for people; None: no part does.

    No file is read.
    """
    if any(isinstance(each, SparkSource) for each in pipeline.sources.values() or [pipeline.source]):
        return "sources.spark"
    return next((each.needs_spark for each in pipeline.to if each.needs_spark), None)


def spark_needed(pipeline: Pipeline, *, validate: bool = True) -> str | None:
    """The reasons to need Spark, for people; None: there is none.

    Reads the suites, if they are to `validate`.
    """
    from muntin.jobs.publish.validate import find_suite
    from muntin.quality import load_suite
    from muntin.quality.pandas_rules import needs_spark

    if rows := rows_need_spark(pipeline):
        return rows
    for window, path in pipeline.expectations.items() if validate else ():
        if needs_spark(load_suite(find_suite(path))):
            return f"the expectations of {window!r}"
    return None
