"""Delays of New York's flights: six-hour windows every hour, local days, and sessions of departures.

The data is the arrival log that `python -m examples.flights_log` writes: a flight arrives when it actually leaves.
"""

from datetime import UTC, datetime

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

flights = Pipeline(
    name="flights",
    source=sources.files("data/flights/{start:%Y-%m-%d}.parquet", event_time="scheduled"),
    schedule="@daily",
    start=datetime(2013, 1, 1, tzinfo=UTC),
    keys=["origin"],
    where="dep_delay is not null",
    watermark="interval",
    windows={
        "last_6_hours": windows.sliding("6h", step="1h", grace="3h"),
        "day": windows.tumbling("1d", timezone="America/New_York"),
        "quiet": windows.session("2h"),
    },
    aggregates={
        "flights": agg.count(),
        "late": agg.count_if("dep_delay > 15"),
        "delay": agg.mean("dep_delay"),
        "worst": agg.max("dep_delay"),
    },
    expectations={"last_6_hours": "expectations/flights_last_6_hours.json"},
)

dag = airflow_dag(flights)
