from muntin.aggregates.behaviour import active_periods, funnel, retention
from muntin.aggregates.by_extremes import max_by, min_by
from muntin.aggregates.collecting import collect, collect_distinct, collect_sorted, concat, to_map
from muntin.aggregates.counting import all_of, any_of, count, count_if, max_count, min_count
from muntin.aggregates.distribution import (
    count_by,
    count_distinct,
    entropy,
    histogram,
    median,
    mode,
    percentile,
)
from muntin.aggregates.extremes import max, min, range  # noqa: A004 - the names in SQL and in the contract
from muntin.aggregates.grouping import by, elementwise, merge
from muntin.aggregates.lasting import integral, time_in_state
from muntin.aggregates.moments import kurtosis, skewness, stddev, variance
from muntin.aggregates.order import any_value, candlestick, first, last
from muntin.aggregates.over_time import counter_increase, counter_rate, longest_silence, time_weighted_mean
from muntin.aggregates.own_functions import apply, own
from muntin.aggregates.pairs import correlation, covariance, linear_trend
from muntin.aggregates.sketches import approx_count_distinct, approx_quantiles, approx_top_k, theta
from muntin.aggregates.sums import geometric_mean, harmonic_mean, mean, product, rate, sum, weighted_mean  # noqa: A004 - the names in SQL and in the contract

__all__ = [
    "active_periods",
    "all_of",
    "any_of",
    "any_value",
    "apply",
    "approx_count_distinct",
    "approx_quantiles",
    "approx_top_k",
    "by",
    "candlestick",
    "collect",
    "collect_distinct",
    "collect_sorted",
    "concat",
    "correlation",
    "count",
    "count_by",
    "count_distinct",
    "count_if",
    "counter_increase",
    "counter_rate",
    "covariance",
    "elementwise",
    "entropy",
    "first",
    "funnel",
    "geometric_mean",
    "harmonic_mean",
    "histogram",
    "integral",
    "kurtosis",
    "last",
    "linear_trend",
    "longest_silence",
    "max",
    "max_by",
    "max_count",
    "mean",
    "median",
    "merge",
    "min",
    "min_by",
    "min_count",
    "mode",
    "own",
    "percentile",
    "product",
    "range",
    "rate",
    "retention",
    "skewness",
    "stddev",
    "sum",
    "theta",
    "time_in_state",
    "time_weighted_mean",
    "to_map",
    "variance",
    "weighted_mean",
]
