from muntin.extensions.airflow import (
    airflow_dag,
    by_batch,
    by_window,
    forget_dag,
    muntin_tasks,
    schedule_of,
    window_asset,
)

__all__ = [
    "airflow_dag",
    "by_batch",
    "by_window",
    "forget_dag",
    "muntin_tasks",
    "schedule_of",
    "window_asset",
]
