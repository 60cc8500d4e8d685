from muntin.extensions.airflow import (
    by_batch,
    by_window,
    schedule_of,
    window_asset,
)

__all__ = [
    "by_batch",
    "by_window",
    "schedule_of",
    "window_asset",
]
