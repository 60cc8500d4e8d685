"""Muntin: windowed aggregation on micro-batches. Airflow or a command runs a batch, in its process or on Spark; Delta tables remember.

Importing this imports nothing else: each name is loaded when it is first used, and what defines a pipeline loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from muntin import aggregates, alerts, errors, sinks, sources, windows
    from muntin.airflow.dag import airflow_dag
    from muntin.definition.pipeline import Pipeline
    from muntin.jobs.look.plan import Plan, plan
    from muntin.jobs.look.read import read
    from muntin.jobs.reports import BatchReport, RunReport
    from muntin.jobs.run.run import run

_MODULES = ("aggregates", "alerts", "errors", "sinks", "sources", "windows")
_HOMES = {
    "BatchReport": "muntin.jobs.reports",
    "Pipeline": "muntin.definition.pipeline",
    "Plan": "muntin.jobs.look.plan",
    "RunReport": "muntin.jobs.reports",
    "airflow_dag": "muntin.airflow.dag",
    "plan": "muntin.jobs.look.plan",
    "read": "muntin.jobs.look.read",
    "run": "muntin.jobs.run.run",
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
        return import_module(f"muntin.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'muntin' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that are there, loaded or not: a misspelt name is told with those that look like it."""
    return sorted({*globals(), *__all__})
