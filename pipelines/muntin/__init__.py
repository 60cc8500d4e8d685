"""Muntin: windowed aggregation on micro-batches. Airflow or a command runs a batch, in its process or on Spark; Delta tables remember.

Importing this imports nothing else: each name is loaded when it is first used, and what defines a pipeline loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from muntin import aggregates, alerts, errors, sinks, sources, windows
    from muntin.airflow.dag import airflow_dag
    from muntin.airflow.forget_dag import forget_dag
    from muntin.airflow.group import muntin_tasks
    from muntin.definition.pipeline import Pipeline
    from muntin.jobs.forgetting.forget import forget
    from muntin.jobs.inspect.plan import Plan, plan
    from muntin.jobs.inspect.read import read
    from muntin.jobs.inspect.sql import sql
    from muntin.jobs.lookups.as_of import as_of
    from muntin.jobs.lookups.over import over
    from muntin.jobs.records.reports import BatchReport, RunReport
    from muntin.jobs.run import run

_MODULES = ("aggregates", "alerts", "errors", "sinks", "sources", "windows")
_HOMES = {
    "BatchReport": "muntin.jobs.records.reports",
    "Pipeline": "muntin.definition.pipeline",
    "Plan": "muntin.jobs.inspect.plan",
    "RunReport": "muntin.jobs.records.reports",
    "airflow_dag": "muntin.airflow.dag",
    "as_of": "muntin.jobs.lookups.as_of",
    "forget": "muntin.jobs.forgetting.forget",
    "forget_dag": "muntin.airflow.forget_dag",
    "muntin_tasks": "muntin.airflow.group",
    "over": "muntin.jobs.lookups.over",
    "plan": "muntin.jobs.inspect.plan",
    "read": "muntin.jobs.inspect.read",
    "run": "muntin.jobs.run",
    "sql": "muntin.jobs.inspect.sql",
}

__all__ = [
    "BatchReport",
    "Pipeline",
    "Plan",
    "RunReport",
    "aggregates",
    "airflow_dag",
    "alerts",
    "as_of",
    "errors",
    "forget",
    "forget_dag",
    "muntin_tasks",
    "over",
    "plan",
    "read",
    "run",
    "sinks",
    "sources",
    "sql",
    "windows",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name in _MODULES:
        return import_module(f"muntin.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'muntin' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names of this module, loaded or not: the error for a misspelt name proposes similar names."""
    return sorted({*globals(), *__all__})
