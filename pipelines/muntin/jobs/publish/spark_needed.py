"""Why a run needs Spark:

Spark reads or writes rows, or alone judges a suite. All else this process can do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline


def rows_need_spark(pipeline: Pipeline) -> str | None:
    """The parts of the definition that give rows to Spark or take them, for people; None: no part does.

    No file is read.
    """
    parts = (*(pipeline.sources.values() or [pipeline.source]), *pipeline.to)
    return next((each.needs_spark for each in parts if each.needs_spark), None)


def spark_needed(pipeline: Pipeline, *, validate: bool = True) -> str | None:
    """The reasons to need Spark, for people; None: there is none.

    Reads the suites, if they are to `validate`.
    """
    if (rows := rows_need_spark(pipeline)) or not (validate and pipeline.expectations):
        return rows
    from muntin.jobs.publish.validate import find_suite
    from muntin.quality import load_suite
    from muntin.quality.pandas_rules import needs_spark

    for window, path in pipeline.expectations.items():
        if needs_spark(load_suite(find_suite(path))):
            return f"the expectations of {window!r}"
    return None
