"""The aggregates that keep items, and the kinds of values each is tried on."""

from pipelines import aggregates as agg
from pipelines.aggregates import Aggregate

NUMBERS = ("int", "float", "offset", "absurd", "decimal")
ORDERED = (*NUMBERS, "text", "moment", "flag")
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
    "mode": (agg.mode("x"), ORDERED),
}
"""Under the name of each function; more of one function in `VARIANTS`."""

VARIANTS: dict[str, tuple[Aggregate, tuple[str, ...]]] = {
    "collect three": (agg.collect("x", 3), ("int", "text")),
    "collect distinct": (agg.collect("x", 2, distinct=True), ("absurd", "text")),
    "sorted by": (agg.collect_sorted("x", by="-time"), ("int", "text")),
    "concat distinct": (agg.concat("x", distinct=True), ("text",)),
}
