"""Sales of two shops, by the hour and by the day.

The source is what the tills sent on a day: a sale may come a day late.
"""

from datetime import UTC, datetime

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

sales = Pipeline(
    name="sales",
    source=sources.files(
        "data/{start:%Y-%m-%d}.csv", event_time="at", types={"shop": "VARCHAR", "amount": "DECIMAL(10, 2)"}
    ),
    schedule="@daily",
    start=datetime(2024, 5, 1, tzinfo=UTC),
    keys=["shop"],
    windows={"hour": windows.tumbling("1h", grace="1h"), "day": windows.tumbling("1d", grace="1h")},
    aggregates={
        "sold": agg.count(),
        "revenue": agg.sum("amount", unit="EUR"),
        "largest": agg.max("amount", unit="EUR"),
    },
    expectations={"day": "expectations/day.json"},
)

dag = airflow_dag(sales, catchup=False)
