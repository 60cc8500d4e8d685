"""Spark of this process: its jobs are stopped when a person or Airflow ends the process, and it is seen
whether its Java has ended.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Event
from typing import Any

_AGAIN_S = 0.25


def stop_jobs() -> None:
    """Cancel what Spark does for this process, in a session of its own and over Spark Connect.

    Any thread may call it; it never raises.
    """
    context = _attribute("pyspark", "SparkContext", "_active_spark_context")
    session = _attribute("pyspark.sql.connect.session", "SparkSession", "_default_session")
    with suppress(Exception):
        if context is not None:
            context.cancelAllJobs()
    with suppress(Exception):
        if session is not None:
            session.interruptAll()


def stop_jobs_until(ended: Event) -> None:
    """`stop_jobs` again and again: a job that was asked for just before the first time begins after it, and
    whoever asked waits for it.
    """
    stop_jobs()
    while not ended.wait(_AGAIN_S):
        stop_jobs()


def java_is_gone() -> bool:
    """Whether this process had a Spark of its own whose Java has ended.

    Errors of Spark cannot be read then: their texts are in Java.
    """
    context = _attribute("pyspark", "SparkContext", "_active_spark_context")
    try:
        return context is not None and not context.applicationId
    except Exception:  # noqa: BLE001 - py4j raises one of several errors
        return True


def _attribute(module: str, *names: str) -> Any:  # noqa: ANN401 - Spark's
    """An attribute of a module that is imported already; None elsewhere."""
    attribute = sys.modules.get(module)
    for name in names:
        attribute = getattr(attribute, name, None)
    return attribute
