"""Delays of departures: six-hour windows every hour, local days, and sessions of departures.

A flight arrives when it actually leaves.
"""

from datetime import UTC, datetime

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

flights = Pipeline(
    name="flights",
    source=sources.files("data/{start:%Y-%m-%d}.parquet", event_time="scheduled"),
    schedule="@daily",
    start=datetime(2024, 5, 1, tzinfo=UTC),
    keys=["origin"],
    where="delay is not null",
    windows={
        "last_6_hours": windows.sliding("6h", step="1h", grace="3h"),
        "day": windows.tumbling("1d", timezone="America/New_York", grace="3h"),
        "busy": windows.session("1h"),
    },
    aggregates={
        "flights": agg.count(),
        "late": agg.count_if("delay > 15"),
        "mean_delay": agg.mean("delay", unit="min"),
        "worst": agg.max("delay", unit="min"),
        "share_late": "late / flights",
    },
    expectations={"last_6_hours": "expectations/last_6_hours.json"},
)

dag = airflow_dag(flights, catchup=False)
