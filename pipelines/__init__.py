"""Muntin: windowed aggregation on micro-batches. Airflow schedules, Spark computes, Parquet remembers.

Importing this imports nothing else: each name is loaded when it is first used, and what defines a pipeline loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipelines import aggregates, alerts, errors, sinks, sources, windows
    from pipelines.airflow.dag import airflow_dag
    from pipelines.definition.pipeline import Pipeline
    from pipelines.jobs.look.plan import Plan, plan
    from pipelines.jobs.look.read import read
    from pipelines.jobs.reports import BatchReport, RunReport
    from pipelines.jobs.run.run import run

_MODULES = ("aggregates", "alerts", "errors", "sinks", "sources", "windows")
_HOMES = {
    "BatchReport": "pipelines.jobs.reports",
    "Pipeline": "pipelines.definition.pipeline",
    "Plan": "pipelines.jobs.look.plan",
    "RunReport": "pipelines.jobs.reports",
    "airflow_dag": "pipelines.airflow.dag",
    "plan": "pipelines.jobs.look.plan",
    "read": "pipelines.jobs.look.read",
    "run": "pipelines.jobs.run.run",
}

__all__ = [
    "BatchReport",
    "Pipeline",
    "Plan",
    "RunReport",
    "aggregates",
    "airflow_dag",
    "alerts",
    "errors",
    "plan",
    "read",
    "run",
    "sinks",
    "sources",
    "windows",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name in _MODULES:
        return import_module(f"pipelines.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pipelines' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that are there, loaded or not: a misspelt name is told with those that look like it."""
    return sorted({*globals(), *__all__})
