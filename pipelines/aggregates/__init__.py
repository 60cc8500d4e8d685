"""The catalogue of aggregates. One family a file; each aggregate is a value of fields, monoid and finish."""

from pipelines.aggregates.aggregate import Aggregate, Field
from pipelines.aggregates.algebra import SUM, Fold, Monoid, Select, Sum
from pipelines.aggregates.collecting import collect, collect_distinct, collect_sorted, concat, to_map
from pipelines.aggregates.counting import count, count_if
from pipelines.aggregates.distribution import count_by, count_distinct, histogram, median, mode, percentile
from pipelines.aggregates.extremes import max, min  # noqa: A004 - the names in SQL and in the contract
from pipelines.aggregates.grouping import by
from pipelines.aggregates.moments import stddev, variance
from pipelines.aggregates.order import first, last
from pipelines.aggregates.own import apply, own
from pipelines.aggregates.sketches import approx_count_distinct, approx_quantiles, approx_top_k, theta
from pipelines.aggregates.sums import mean, sum  # noqa: A004 - the names in SQL and in the contract

__all__ = [
    "SUM",
    "Aggregate",
    "Field",
    "Fold",
    "Monoid",
    "Select",
    "Sum",
    "apply",
    "approx_count_distinct",
    "approx_quantiles",
    "approx_top_k",
    "by",
    "collect",
    "collect_distinct",
    "collect_sorted",
    "concat",
    "count",
    "count_by",
    "count_distinct",
    "count_if",
    "first",
    "histogram",
    "last",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "own",
    "percentile",
    "stddev",
    "sum",
    "theta",
    "to_map",
    "variance",
]
