"""Test a definition: rows in, windows out, without Spark, in milliseconds.

>>> from datetime import UTC, datetime
>>> from muntin import Pipeline, aggregates as agg, sources, windows
>>> shop = Pipeline(
...     name="shop",
...     source=sources.files("orders/{start:%Y-%m-%d}.csv", event_time="at"),
...     schedule="@daily",
...     start=datetime(2024, 5, 1, tzinfo=UTC),
...     keys=["city"],
...     windows={"day": windows.tumbling("1d")},
...     aggregates={"orders": agg.count(), "spent": agg.sum("price * pieces")},
... )
>>> rows = [
...     {"at": "2024-05-01T09:00:00Z", "city": "Graz", "price": 3, "pieces": 2},
...     {"at": "2024-05-01T17:30:00Z", "city": "Graz", "price": 5, "pieces": 1},
... ]
>>> windows_of(shop, [rows]).select(["city", "orders", "spent"]).to_pylist()
[{'city': 'Graz', 'orders': 2, 'spent': 11}]
"""

from muntin.testing import oracle
from muntin.testing.trial import pipeline_of, report_of, run_here, windows_of

__all__ = ["oracle", "pipeline_of", "report_of", "run_here", "windows_of"]
