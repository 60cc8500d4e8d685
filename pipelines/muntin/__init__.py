"""Muntin: windowed aggregation on micro-batches. Airflow or a command runs a batch, in its process or on
Spark; Delta tables remember.

Importing this imports nothing else: each name is loaded when it is first used, and what defines a pipeline
loads nothing heavy.
"""

from importlib import import_module
from typing import Any

_MODULES = ("aggregates", "errors", "sinks", "sources", "windows")
_HOMES = {
    "BatchReport": "muntin.jobs.records.reports",
    "Limits": "muntin.definition.groups",
    "Pipeline": "muntin.definition.pipeline",
    "Plan": "muntin.jobs.inspect.plan",
    "Renamed": "muntin.definition.groups",
    "Retain": "muntin.definition.groups",
    "RunReport": "muntin.jobs.records.reports",
    "as_of": "muntin.jobs.lookups.as_of",
    "over": "muntin.jobs.lookups.over",
    "plan": "muntin.jobs.inspect.plan",
    "read": "muntin.jobs.inspect.read",
    "run": "muntin.jobs.run",
    "sql": "muntin.jobs.inspect.sql",
}
_OF_EXTENSIONS = ("airflow_dag", "alerts", "forget", "forget_dag", "muntin_tasks")

__all__ = [  # noqa: PLE0604 - __init__.pyi has each
    *sorted(("__version__", *_MODULES, *_HOMES, *_OF_EXTENSIONS))
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name in _MODULES:
        return import_module(f"muntin.{name}")
    if name == "__version__":
        return import_module("importlib.metadata").version("muntin")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    from muntin.registry import attribute_of

    return attribute_of(__name__, "muntin", name)


def __dir__() -> list[str]:
    """The names of this module, loaded or not: the error for a misspelt name proposes similar names."""
    return sorted({*globals(), *__all__})
