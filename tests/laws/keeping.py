"""The aggregates that keep items, and the kinds of values each is tried on."""

import operator
from typing import Any

from pipelines import aggregates as agg
from pipelines.aggregates import Aggregate

NUMBERS = ("int", "float", "offset", "absurd", "decimal")
ORDERED = (*NUMBERS, "text", "moment", "flag")


def largest(found: list[Any], value: Any) -> list[Any]:
    return larger(found, [value])


def larger(one: list[Any], other: list[Any]) -> list[Any]:
    return [max(one + other)] if one or other else []


KEEPING: dict[str, tuple[Aggregate, tuple[str, ...]]] = {
    "collect": (agg.collect("x"), ORDERED),
    "collect_sorted": (agg.collect_sorted("x", descending=True), ORDERED),
    "collect_distinct": (agg.collect_distinct("x"), ORDERED),
    "concat": (agg.concat("x", "|"), ("int", "text", "moment", "flag")),
    "to_map": (agg.to_map("x", "time"), ORDERED),
    "histogram": (agg.histogram("x", [-1, 0, 1, 100.5]), NUMBERS),
    "median": (agg.median("x"), NUMBERS),
    "percentile": (agg.percentile("x", 0.9), NUMBERS),
    "count_distinct": (agg.count_distinct("x"), ORDERED),
    "count_by": (agg.count_by("x"), ORDERED),
    "approx_count_distinct": (agg.approx_count_distinct("x"), ORDERED),
    "approx_quantiles": (agg.approx_quantiles("x", [0, 0.5, 1]), NUMBERS),
    "approx_top_k": (agg.approx_top_k("x"), ORDERED),
    "theta": (agg.theta("x"), ORDERED),
    "own": (agg.own("most", "x", create=list, accumulate=largest, combine=larger, finish=bool), ("int", "text", "decimal")),
    "apply": (agg.apply(lambda xs, times: len(xs) + sum(times), "x", "-time"), ("int", "text")),
    "by": (agg.by("x", agg.mean("time")), ORDERED),
    "mode": (agg.mode("x"), ORDERED),
}
"""Under the name of each function; more of one function in `VARIANTS`."""

VARIANTS: dict[str, tuple[Aggregate, tuple[str, ...]]] = {
    "collect three": (agg.collect("x", 3), ("int", "text")),
    "collect distinct": (agg.collect("x", 2, distinct=True), ("absurd", "text")),
    "sorted by": (agg.collect_sorted("x", by="-time"), ("int", "text")),
    "own with deduct": (
        agg.own("total", "x", create=int, accumulate=operator.add, combine=operator.add, finish=float, deduct=operator.sub),
        ("int",),
    ),
    "by, exact": (agg.by("x", agg.sum("time")), ("int", "text")),
    "by, of one row": (agg.by("time % 2", agg.first("x")), ("int", "text")),
    "by, moments": (agg.by("time % 2", agg.stddev("x")), ("float",)),
    "by, sketches": (agg.by("time % 2", agg.approx_count_distinct("x")), ("float", "text")),
    "by, lists": (agg.by("time % 2", agg.collect("x")), ("float", "moment")),
    "by of by": (agg.by("time % 2", agg.by("x", agg.count())), ("text",)),
    "concat distinct": (agg.concat("x", distinct=True), ("text",)),
}
