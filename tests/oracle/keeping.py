"""The aggregates that keep items, over the rows of one window in the order of (event time, arrival), as plainly as can be."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from muntin.testing.oracle.aggregates import nan_greatest
from muntin.testing.oracle.time import Row

Naive = Callable[[Sequence[Row]], Any]


def values(rows: Sequence[Row], x: str) -> list[Any]:
    """But nulls; every NaN the same object, so that it is one value."""
    return [math.nan if isinstance(row[x], float) and math.isnan(row[x]) else row[x] for row in rows if row[x] is not None]


def collect(x: str, limit: int | None = None) -> Naive:
    return lambda rows: values(rows, x)[:limit]


def first_of_each(x: str) -> Naive:
    return lambda rows: list(dict.fromkeys(values(rows, x)))


def sorted_by(x: str, by: str, *, descending: bool = False) -> Naive:
    def found(rows: Sequence[Row]) -> list[Any]:
        there = [row for row in rows if row[x] is not None]
        known = sorted((row for row in there if row[by] is not None), key=lambda row: nan_greatest(row[by]), reverse=descending)
        if descending:  # `reverse` keeps the order of equal ones
            known = sorted((row for row in there if row[by] is not None), key=lambda row: descent(row[by]))
        return [row[x] for row in [*known, *(row for row in there if row[by] is None)]]

    return found


def descent(value: float) -> tuple[bool, float]:
    return (not math.isnan(value), -value)


def distinct(x: str) -> Naive:
    return lambda rows: sorted(set(values(rows, x)), key=nan_greatest)


def concat(x: str, separator: str) -> Naive:
    return lambda rows: separator.join(map(str, values(rows, x))) if values(rows, x) else None


def to_map(key: str, value: str) -> Naive:
    return lambda rows: sorted({row[key]: row[value] for row in rows if row[key] is not None}.items())


def histogram(x: str, edges: Sequence[float]) -> Naive:
    def found(rows: Sequence[Row]) -> list[int]:
        bins = list(pairwise(edges))
        inside = [sum(low <= value < high for value in values(rows, x)) for low, high in bins]
        return [*inside[:-1], inside[-1] + sum(value == edges[-1] for value in values(rows, x))]

    return found


def percentile(x: str, q: float) -> Naive:
    def found(rows: Sequence[Row]) -> float | None:
        known = sorted(values(rows, x), key=nan_greatest)
        if not known:
            return None
        place = (len(known) - 1) * q
        low, high = known[math.floor(place)], known[math.ceil(place)]
        return float(low if low == high else low + (high - low) * (place - math.floor(place)))

    return found


def count_by(x: str) -> Naive:
    return lambda rows: sorted(Counter(values(rows, x)).items(), key=lambda item: nan_greatest(item[0]))


def mode(x: str) -> Naive:
    return lambda rows: min(Counter(values(rows, x)).items(), key=lambda item: (-item[1], nan_greatest(item[0])), default=(None,))[0]


def by(group: str, inner: Naive) -> Naive:
    def found(rows: Sequence[Row]) -> list[Any]:
        groups = sorted({row[group] for row in rows if row[group] is not None})
        return [(each, inner([row for row in rows if row[group] == each])) for each in groups]

    return found


def top(x: str, k: int) -> Naive:
    return lambda rows: [
        {"value": value, "count": count, "error": 0}
        for value, count in sorted(Counter(values(rows, x)).items(), key=lambda item: (-item[1], str(item[0])))[:k]
    ]
