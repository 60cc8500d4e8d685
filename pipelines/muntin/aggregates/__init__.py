"""The catalogue of aggregates. An aggregate is a value: fields with their monoids, and a finish.

A name is loaded when it is first used: a definition loads what it names.
"""

from typing import Any

from muntin.registry import of_home

_NAMES = {
    "behaviour": "active_periods funnel retention",
    "by_extremes": "max_by min_by",
    "collecting": "collect collect_distinct collect_sorted concat to_map",
    "counting": "all_of any_of count count_if max_count min_count",
    "distribution": "count_by count_distinct entropy histogram median mode percentile",
    "extremes": "max min range",
    "grouping": "by elementwise merge",
    "lasting": "integral time_in_state",
    "moments": "kurtosis skewness stddev variance",
    "order": "any_value candlestick first last",
    "over_time": "counter_increase counter_rate longest_silence time_weighted_mean",
    "own_functions": "apply own",
    "pairs": "correlation covariance linear_trend",
    "sketches": "approx_count_distinct approx_quantiles approx_top_k theta",
    "sums": "geometric_mean harmonic_mean mean product rate sum weighted_mean",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [*sorted(_HOMES)]  # noqa: PLE0604 - __init__.pyi has each


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    return of_home(__name__, _HOMES, name)


def __dir__() -> list[str]:
    """The names of this module, loaded or not: the error for a misspelt name proposes similar names."""
    return sorted({*globals(), *__all__})
