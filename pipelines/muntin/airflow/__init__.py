"""Airflow runs a pipeline: one DAG, a run per data interval, an asset per window.

    dag = airflow_dag(flights)

Importing this package does not import Airflow; a call of `airflow_dag` does. The tasks import Spark, Great Expectations
and the engine.
"""

from muntin.airflow.assets import window_asset
from muntin.airflow.dag import airflow_dag

__all__ = ["airflow_dag", "window_asset"]
