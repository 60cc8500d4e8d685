"""SQL for sums over distances from a mean that rounding has not spoilt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EACH = "muntin_each"  # what lambdas call an item: no column may be named so


def list_sum(rows: str, term: str) -> str:
    """SQL for the sum of a term in `EACH` over a list."""
    return f"list_sum(list_transform({rows}, lambda {EACH}: {term}))"


def two_sum(one: str, other: str) -> tuple[str, str]:
    """SQL for the sum of two doubles, and for what rounding took off it."""
    total = f"({one} + {other})"
    return total, f"(({one} - ({total} - ({total} - {one}))) + ({other} - ({total} - {one})))"


def _finite(double: str, lift: str) -> str:
    return f"CASE WHEN bool_and(isfinite({double})) THEN {lift} WHEN count({double}) = 0 THEN 0 ELSE 'nan'::DOUBLE END"


def unless_equal(double: str, parts: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Each part's lift; the second one where all values are equal, which needs no rounding at all."""
    finite = f"FILTER (WHERE isfinite({double}))"
    for name, (lift, same) in parts.items():
        yield name, _finite(double, f"CASE WHEN min({double}) {finite} = max({double}) {finite} THEN {same} ELSE {lift} END")
