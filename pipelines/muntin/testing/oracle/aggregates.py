"""The commonest aggregates over the rows of one window, nulls and NaN as SQL (DuckDB) has them."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from muntin.testing.oracle.time import Row


@dataclass(frozen=True)
class Agg:
    """`name` of `of(row)`, over rows ordered by (event time, arrival); in windows by arrival, by arrival."""

    name: str
    of: Callable[[Row], Any] = lambda _: 1
    population: bool = False

    def __call__(self, rows: Sequence[Row]) -> Any:
        """The aggregate of a window's rows; an empty window counts 0, all else is null."""
        every = [self.of(row) for row in rows]
        if self.name in {"first", "last"}:
            return next(iter(every if self.name == "first" else reversed(every)), None)
        values = [value for value in every if value is not None]
        if self.name == "count":
            return len(values)
        if self.name == "count_distinct":
            return len({nan_greatest(value) for value in values})
        if self.name == "count_if":
            return sum(1 for value in values if value)
        return self.over(values) if values else None

    def over(self, values: list[Any]) -> Any:
        """The aggregates that are null where no value is."""
        match self.name:
            case "sum":
                return total(values)
            case "mean":
                whole = total(values) / len(values)
                return float(whole) if isinstance(whole, Fraction) else whole
            case "min":
                return min(values, key=nan_greatest)
            case "max":
                return max(values, key=nan_greatest)
            case "all_of":
                return all(values)
            case "any_of":
                return any(values)
            case "any_value":
                return values[0]
            case "last_value":
                return values[-1]
            case "variance":
                return self.variance(values)
            case "stddev":
                spread = self.variance(values)
                return None if spread is None else math.sqrt(spread)
            case "collect":
                return values
        raise ValueError(self.name)

    def variance(self, values: list[Any]) -> float | None:
        """Variance of the sample, unless `population`; a sample of one value has none."""
        freedom = len(values) - (0 if self.population else 1)
        if freedom == 0:
            return None
        if not any(isinstance(value, float) for value in values):
            exact = [Fraction(value) for value in values]
            mean = sum(exact) / len(exact)
            return float(sum((value - mean) ** 2 for value in exact) / freedom)
        if any(math.isnan(value) for value in values):
            return math.nan
        middle = statistics.fmean(values)
        return math.fsum((value - middle) ** 2 for value in values) / freedom


def total(values: list[Any]) -> Any:
    """Integers and decimals exactly, floats as well as floats can."""
    if any(isinstance(value, float) for value in values):
        return math.fsum(values)
    return sum(values) if isinstance(values[0], int) else sum(map(Fraction, values))


def nan_greatest(value: Any) -> tuple[bool, Any]:
    """NaN sorts behind every number."""
    absent = isinstance(value, float) and math.isnan(value)
    return (absent, 0 if absent else value)
