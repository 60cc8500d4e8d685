from muntin import aggregates, errors, sinks, sources, windows
from muntin.definition.groups import Limits, Renamed, Retain
from muntin.definition.pipeline import Pipeline
from muntin.extensions import alerts
from muntin.extensions.airflow.dag import airflow_dag
from muntin.extensions.airflow.forget_dag import forget_dag
from muntin.extensions.airflow.group import muntin_tasks
from muntin.extensions.forgetting.forget import forget
from muntin.jobs.inspect.plan import Plan, plan
from muntin.jobs.inspect.read import read
from muntin.jobs.inspect.sql import sql
from muntin.jobs.lookups.as_of import as_of
from muntin.jobs.lookups.over import over
from muntin.jobs.records.reports import BatchReport, RunReport
from muntin.jobs.run import run

__version__: str

__all__ = [
    "BatchReport",
    "Limits",
    "Pipeline",
    "Plan",
    "Renamed",
    "Retain",
    "RunReport",
    "__version__",
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
