"""The aggregates of the catalogue over raw rows, by their definitions: exact fractions, no states, no care for speed.

Each takes rows in the order (event time, arrival); `t` of a row is microseconds.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from muntin.testing.oracle.aggregates import nan_greatest
from muntin.testing.oracle.time import Row

Rows = Sequence[Row]
Of = Callable[[Row], Any]


def column(name: str) -> Of:
    return lambda row: row[name]


def values(rows: Rows, *of: Of) -> list[Any]:
    """The values where none is null: tuples of them, if there are several."""
    found = [tuple(each(row) for each in of) for row in rows]
    kept = [each for each in found if None not in each]
    return kept if len(of) > 1 else [each[0] for each in kept]


def exact(value: Any) -> Any:
    """A fraction; what is not finite stays a double."""
    return Fraction(value) if math.isfinite(value) else value


def added(found: Iterable[Any]) -> Any:
    """The exact sum of numbers; a double where a number is not finite."""
    every = list(found)
    return sum(map(Fraction, every)) if all(map(math.isfinite, every)) else math.fsum(map(double, every))


def double(value: Any) -> float:
    """The nearest double."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def extreme_count(rows: Rows, of: Of, pick: Callable[..., Any]) -> int:
    found = [nan_greatest(value) for value in values(rows, of)]
    return found.count(pick(found)) if found else 0


def spread(rows: Rows, of: Of) -> Any:
    found = sorted(values(rows, of), key=nan_greatest)
    return found[-1] - found[0] if found else None


def best(rows: Rows, value: Of, order: Of, sign: int) -> Any:
    there = [row for row in rows if order(row) is not None]
    place = (max if sign > 0 else min)((nan_greatest(order(row)) for row in there), default=None)
    return next((value(row) for row in there if nan_greatest(order(row)) == place), None)


def best_ones(rows: Rows, value: Of, order: Of, sign: int, n: int) -> list[Any] | None:
    there = [row for row in rows if order(row) is not None]
    return [value(row) for row in sorted(there, key=lambda row: nan_greatest(order(row)), reverse=sign > 0)[:n]] or None


def funnel(rows: Rows, steps: Sequence[Of], within: int) -> int:
    """The longest way, of all there are: from each row that takes a step, each later row that takes the next."""

    def further(at: int, step: int, since: int) -> int:
        following = (later for later in range(at + 1, len(rows)) if rows[later]["t"] - since <= within and steps[step](rows[later]))
        return 1 + max((further(later, step + 1, since) for later in following), default=0) if step < len(steps) else 1

    return max((further(at, 1, row["t"]) for at, row in enumerate(rows) if steps[0](row)), default=0)


def retention(*conditions: Of) -> Callable[[Rows], list[bool]]:
    return lambda rows: [any(map(conditions[0], rows)) and any(map(each, rows)) for each in conditions]


def active_periods(rows: Rows, us: int) -> int:
    return len({row["t"] // us for row in rows})


def all_best(rows: Rows, value: Of, order: Of, sign: int) -> list[Any] | None:
    pairs = [(nan_greatest(order(row)), value(row)) for row in rows if order(row) is not None]
    if not pairs:
        return None
    place = (max if sign > 0 else min)(order for order, _ in pairs)
    return sorted({value for order, value in pairs if order == place and value is not None})


def greatest(rows: Rows, of: Of, n: int) -> list[Any] | None:
    return sorted(values(rows, of), key=nan_greatest, reverse=True)[:n] or None


def least(rows: Rows, of: Of, n: int) -> list[Any] | None:
    return sorted(values(rows, of), key=nan_greatest)[:n] or None


def weighted_mean(rows: Rows, x: Of, w: Of) -> float | None:
    pairs = values(rows, x, w)
    weight = added(w for _, w in pairs)
    return double(added(exact(x) * exact(w) for x, w in pairs) / weight) if weight else None


def product(rows: Rows, of: Of) -> float | None:
    found = values(rows, of)
    return double(math.prod(map(exact, found))) if found else None


def geometric_mean(rows: Rows, of: Of) -> float | None:
    found = values(rows, of)
    if any(value < 0 or math.isnan(value) for value in found):
        return math.nan
    return math.exp(math.fsum(map(math.log, found)) / len(found)) if found and all(found) else 0.0 if found else None


def harmonic_mean(rows: Rows, of: Of) -> float | None:
    found = values(rows, of)
    if any(value < 0 or math.isnan(value) for value in found):
        return math.nan
    return double(len(found) / added(1 / exact(value) for value in found)) if found and all(found) else 0.0 if found else None


def entropy(rows: Rows, of: Of) -> float | None:
    found = values(rows, of)
    shares = [times / len(found) for times in Counter(map(repr, found)).values()]
    return math.fsum(share * math.log2(1 / share) for share in shares) if found else None


def moment(found: Sequence[Any], power: int) -> Fraction:
    """The mean of a power of the distances from the mean."""
    middle = Fraction(sum(map(Fraction, found))) / len(found)
    return sum((Fraction(value) - middle) ** power for value in found) / len(found)


def skewness(rows: Rows, of: Of) -> float | None:
    found = values(rows, of)
    n = len(found)
    if not all(map(math.isfinite, found)):
        return math.nan
    if n < 3 or moment(found, 2) == 0:
        return None
    return math.sqrt(n * (n - 1)) / (n - 2) * float(moment(found, 3)) / float(moment(found, 2)) ** 1.5


def kurtosis(rows: Rows, of: Of) -> float | None:
    found = values(rows, of)
    n = len(found)
    if not all(map(math.isfinite, found)):
        return math.nan
    if n < 4 or moment(found, 2) == 0:
        return None
    excess = (n + 1) * moment(found, 4) / moment(found, 2) ** 2 - 3 * (n - 1)
    return float(Fraction(n - 1, (n - 2) * (n - 3)) * excess)


def comoment(pairs: Sequence[tuple[Any, Any]]) -> Fraction:
    """The mean of the products of the distances from the means."""
    a, b = (Fraction(sum(map(Fraction, side))) / len(pairs) for side in zip(*pairs, strict=True))
    return sum((Fraction(x) - a) * (Fraction(y) - b) for x, y in pairs) / len(pairs)


def covariance(rows: Rows, x: Of, y: Of) -> float | None:
    pairs = values(rows, x, y)
    if len(pairs) < 2:
        return None
    return math.nan if odd(pairs) else float(comoment(pairs) * len(pairs) / (len(pairs) - 1))


def correlation(rows: Rows, x: Of, y: Of) -> float | None:
    pairs = values(rows, x, y)
    if odd(pairs):
        return math.nan
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    if not pairs or 0 in (moment(xs, 2), moment(ys, 2)):
        return None
    return float(comoment(pairs)) / math.sqrt(moment(xs, 2)) / math.sqrt(moment(ys, 2))


def linear_trend(rows: Rows, x: Of, y: Of) -> dict[str, float] | None:
    pairs = values(rows, x, y)
    if odd(pairs):
        return dict.fromkeys(("slope", "intercept", "r2"), math.nan)
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    if not pairs or moment(xs, 2) == 0:
        return None
    slope = comoment(pairs) / moment(xs, 2)
    intercept = Fraction(sum(map(Fraction, ys))) / len(ys) - slope * Fraction(sum(map(Fraction, xs))) / len(xs)
    r2 = comoment(pairs) ** 2 / moment(xs, 2) / moment(ys, 2) if moment(ys, 2) else 1
    return {"slope": float(slope), "intercept": float(intercept), "r2": float(r2)}


def odd(pairs: Sequence[tuple[Any, Any]]) -> bool:
    return any(not math.isfinite(value) for pair in pairs for value in pair)


def candlestick(rows: Rows, price: Of, volume: Of) -> dict[str, Any] | None:
    prices = values(rows, price)
    if not prices:
        return None
    high, low = max(prices, key=nan_greatest), min(prices, key=nan_greatest)
    return {"open": prices[0], "high": high, "low": low, "close": prices[-1], "vwap": weighted_mean(rows, price, volume)}


def time_weighted_mean(rows: Rows, of: Of, *, linear: bool = False) -> float | None:
    points = values(rows, column("t"), of)
    if not points:
        return None
    whole = points[-1][0] - points[0][0]
    if not whole:
        return float(points[-1][1])
    return double(area(points, linear=linear) / whole)


def integral(rows: Rows, of: Of, *, linear: bool = False) -> float | None:
    points = values(rows, column("t"), of)
    return double(area(points, linear=linear) / 10**6) if points else None


def area(points: Sequence[tuple[int, Any]], *, linear: bool) -> Any:
    """Under the steps, or the lines, from each (time, value) to the next."""
    steps = [(u - t, exact(x), exact(y)) for (t, x), (u, y) in pairwise(points) if u > t]
    return added(((x + y) / 2 if linear else x) * length for length, x, y in steps)


def counter_rate(rows: Rows, of: Of) -> float | None:
    points = values(rows, column("t"), of)
    if len(points) < 2 or points[0][0] == points[-1][0]:
        return None
    steps = [(exact(x), exact(y)) for (_, x), (_, y) in pairwise(points)]
    return double(added(y if y < x else y - x for x, y in steps) / (points[-1][0] - points[0][0]) * 10**6)


def counter_increase(rows: Rows, of: Of) -> Any:
    own = values(rows, of)
    return risen(pairwise(own), own[0]) if own else None


def risen(steps: Iterable[tuple[Any, Any]], like: Any) -> Any:
    """The sum of rises, of the type of a value."""
    total = added(exact(y) if y < x else exact(y) - exact(x) for x, y in steps)
    return double(total) if isinstance(like, float) else type(like)(total.numerator) / total.denominator if total % 1 else type(like)(total)


def time_in_state(rows: Rows, of: Of) -> list[tuple[Any, float]] | None:
    points = values(rows, column("t"), of)
    lasted = dict.fromkeys(sorted({state for _, state in points}), 0)
    for (t, state), (u, _) in pairwise(points):
        lasted[state] += u - t
    return [(state, us / 1e6) for state, us in lasted.items()] or None


def longest_silence(rows: Rows) -> float | None:
    return max(((b["t"] - a["t"]) / 1e6 for a, b in pairwise(rows)), default=None)
