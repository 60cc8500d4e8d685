"""Visits of a web site: clicks of a visitor with less than half an hour between them, and the day so far,
every hour.
"""

from datetime import UTC, datetime

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

clicks = Pipeline(
    name="clicks",
    source=sources.files(
        "data/{start:%Y-%m-%dT%H}.jsonl",
        event_time="at",
        types={"at": "TIMESTAMPTZ", "visitor": "VARCHAR", "page": "VARCHAR"},
        missing="empty",
    ),
    schedule="@hourly",
    start=datetime(2024, 5, 1, tzinfo=UTC),
    keys=["visitor"],
    windows={"visit": windows.session("30m"), "today": windows.cumulating("1d", step="1h")},
    aggregates={
        "clicks": agg.count(),
        "pages": agg.count_distinct("page"),
        "landed_on": agg.first("page"),
        "left_from": agg.last("page"),
    },
    expectations={"visit": "expectations/visit.json"},
)

dag = airflow_dag(clicks, catchup=False)
