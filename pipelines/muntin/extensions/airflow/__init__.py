"""Airflow runs a pipeline: one DAG, a run per data interval, an asset per window.

    dag = airflow_dag(flights)

    with DAG("shop", schedule=schedule_of(shop), start_date=shop.start, catchup=True):
        arrived() >> muntin_tasks(shop) >> told()

Importing this package does not import Airflow; a call of these does. The tasks import Spark, Great
Expectations and the engine.
"""

from muntin.extensions.airflow.assets.partitions import by_batch, by_window, window_asset
from muntin.extensions.airflow.dag import airflow_dag as airflow_dag
from muntin.extensions.airflow.dag import schedule_of
from muntin.extensions.airflow.forget_dag import forget_dag as forget_dag
from muntin.extensions.airflow.group import muntin_tasks as muntin_tasks

__all__ = [
    "by_batch",
    "by_window",
    "schedule_of",
    "window_asset",
]
