"""The aggregates that keep items, and the kinds of values each is tried on."""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from pipelines import aggregates as agg
from pipelines.aggregates import Aggregate

NUMBERS = ("int", "float", "offset", "absurd", "decimal")
ORDERED = (*NUMBERS, "text", "moment", "flag")


def largest(found: list[Any], value: Any) -> list[Any]:
    return larger(found, [value])


def larger(one: list[Any], other: list[Any]) -> list[Any]:
    return [max(one + other)] if one or other else []


Catalogue = dict[str, tuple[Callable[..., Aggregate], tuple[str, ...]]]

KEEPING: Catalogue = {
    "collect": (partial(agg.collect, "x"), ORDERED),
    "collect_sorted": (partial(agg.collect_sorted, "x", descending=True), ORDERED),
    "collect_distinct": (partial(agg.collect_distinct, "x"), ORDERED),
    "concat": (partial(agg.concat, "x", "|"), ("int", "text", "moment", "flag")),
    "to_map": (partial(agg.to_map, "x", "time"), ORDERED),
    "histogram": (partial(agg.histogram, "x", [-1, 0, 1, 100.5]), NUMBERS),
    "median": (partial(agg.median, "x"), NUMBERS),
    "percentile": (partial(agg.percentile, "x", 0.9), NUMBERS),
    "count_distinct": (partial(agg.count_distinct, "x"), ORDERED),
    "count_by": (partial(agg.count_by, "x"), ORDERED),
    "approx_count_distinct": (partial(agg.approx_count_distinct, "x"), ORDERED),
    "approx_quantiles": (partial(agg.approx_quantiles, "x", [0, 0.5, 1]), NUMBERS),
    "approx_top_k": (partial(agg.approx_top_k, "x"), ORDERED),
    "theta": (partial(agg.theta, "x"), ORDERED),
    "own": (partial(agg.own, "most", "x", create=list, accumulate=largest, combine=larger, finish=bool), ("int", "text", "decimal")),
    "apply": (partial(agg.apply, lambda xs, times: len(xs) + sum(times), "x", "-time"), ("int", "text")),
    "by": (partial(agg.by, "x", agg.mean("time")), ORDERED),
    "elementwise": (partial(agg.elementwise, "x", agg.mean("x")), ("list",)),
    "mode": (partial(agg.mode, "x"), ORDERED),
}
"""How each function is asked, under its name; more of one function in `VARIANTS`."""

VARIANTS: Catalogue = {
    "collect three": (partial(agg.collect, "x", 3), ("int", "text")),
    "collect distinct": (partial(agg.collect, "x", 2, distinct=True), ("absurd", "text")),
    "sorted by": (partial(agg.collect_sorted, "x", by="-time"), ("int", "text")),
    "own with deduct": (
        partial(agg.own, "total", "x", create=int, accumulate=operator.add, combine=operator.add, finish=float, deduct=operator.sub),
        ("int",),
    ),
    "by, exact": (partial(agg.by, "x", agg.sum("time")), ("int", "text")),
    "by, of one row": (partial(agg.by, "time % 2", agg.first("x")), ("int", "text")),
    "by, moments": (partial(agg.by, "time % 2", agg.stddev("x")), ("float",)),
    "by, sketches": (partial(agg.by, "time % 2", agg.approx_count_distinct("x")), ("float", "text")),
    "by, lists": (partial(agg.by, "time % 2", agg.collect("x")), ("float", "moment")),
    "by of by": (partial(agg.by, "time % 2", agg.by("x", agg.count())), ("text",)),
    "elementwise, moments": (partial(agg.elementwise, ["x", "y"], agg.covariance("x", "y")), ("list",)),
    "elementwise, lists": (partial(agg.elementwise, "x", agg.collect("x", where="x > 0")), ("list",)),
    "concat distinct": (partial(agg.concat, "x", distinct=True), ("text",)),
    "count distinct": (partial(agg.count, "x", distinct=True), ("absurd", "text")),
    "sum distinct": (partial(agg.sum, "x", distinct=True), NUMBERS),
    "mean distinct": (partial(agg.mean, "x", distinct=True), ("int", "float", "absurd")),
    "count of rows": (agg.count, ("text",)),
    "rate of rows": (agg.rate, ("int",)),
}
