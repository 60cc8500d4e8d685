"""How exact a result is: in words, for the page of the aggregates, and as a comparison with the oracle's."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from muntin.aggregates import theta_sets
from tests.properties.equal_values import alike


@dataclass(frozen=True)
class Accuracy:
    """`says`: as the page has it. `holds(ours, theirs)`: whether our result is as near to the oracle's as that."""

    says: str
    holds: Callable[[Any, Any], bool] = alike


def t_digest(*quantiles: float) -> Accuracy:
    """The oracle gives the sorted values. Our quantiles lie between the neighbours of the places that are at most 1 % off."""

    def holds(ours: list[float] | None, values: list[float]) -> bool:
        if ours is None or not values:
            return ours is None and not values
        last = len(values) - 1
        places = [(max(0, floor((q - 0.01) * last) - 1), min(last, ceil((q + 0.01) * last) + 1)) for q in quantiles]
        return all(values[low] <= found <= values[high] for found, (low, high) in zip(ours, places, strict=True))

    return Accuracy("rank, 1 % in the middle, 0.04 % at 0.01 and 0.99", holds)


EXACT = Accuracy("exact")
ROUNDED = Accuracy("rounding")
"""Twelve digits at any magnitude: tests/properties/laws/test_exact_arithmetic.py holds each such row against fractions."""
NINE_DIGITS = Accuracy("nine digits")
MOMENTS = Accuracy("nine digits, mean up to 1e7 deviations")
HYPERLOGLOG = Accuracy("1.04 / sqrt(2^lg_k): 1.6 %")
MISRA_GRIES = Accuracy("said with each count; none for some hundred values")
THETA = Accuracy("1 / sqrt(2^lg_k): 1.6 %", lambda sketch, count: theta_sets.estimate(sketch) == count)
"""The oracle counts. Some hundred values are counted exactly."""
