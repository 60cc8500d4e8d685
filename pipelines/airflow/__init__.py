"""Airflow runs a pipeline: one DAG, a run per data interval, an asset per window.

    dag = airflow_dag(flights)

Importing this package imports no Airflow; `airflow_dag` does, when called. Spark, Great Expectations and the engine are
imported by the tasks.
"""

from pipelines.airflow.assets import window_asset
from pipelines.airflow.dag import airflow_dag

__all__ = ["airflow_dag", "window_asset"]
