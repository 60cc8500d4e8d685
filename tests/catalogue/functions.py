"""The Python functions of the calls in the table of aggregates: of `own` and `apply`."""

from collections.abc import Sequence
from operator import add, sub
from typing import Any

__all__ = ["add", "counted_and_added", "larger", "sub", "with_larger"]


def with_larger(found: list[Any], value: Any) -> list[Any]:
    """The greatest value so far, in a list."""
    return larger(found, [value])


def larger(one: list[Any], other: list[Any]) -> list[Any]:
    """The greater of two lists of at most one value."""
    return [max(one + other)] if one or other else []


def counted_and_added(values: Sequence[Any], numbers: Sequence[float | None]) -> float:
    """How many rows there are, and the sum of a column, in one number."""
    return float(len(values) + sum(number or 0 for number in numbers))
