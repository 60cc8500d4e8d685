"""Muntin: windowed aggregation on micro-batches. Airflow schedules, Spark computes, Parquet remembers.

Defining a pipeline imports nothing heavy; `run`, `plan`, `read` and `airflow_dag` are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipelines import aggregates, alerts, errors, sinks, sources, windows
from pipelines.definition.pipeline import Pipeline

if TYPE_CHECKING:
    from pipelines.airflow.dag import airflow_dag
    from pipelines.jobs.look.plan import Plan, plan
    from pipelines.jobs.look.read import read
    from pipelines.jobs.reports import BatchReport, RunReport
    from pipelines.jobs.run.run import run

_LATER = {
    "BatchReport": "pipelines.jobs.reports",
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
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'pipelines' has no attribute {name!r}")
