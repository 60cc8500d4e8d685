"""Sets out of the bytes of `theta`: their union, intersection, difference, and about how many values they hold.

`theta_sets.estimate(theta_sets.intersection(monday, tuesday))` of two windows' results: who came on both days.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datasketches import compact_theta_sketch


def estimate(sketch: bytes) -> float:
    """About how many different values the set has; exactly, as long as there are fewer than 2**lg_k."""
    return float(_read(sketch).get_estimate())


def bounds(sketch: bytes, deviations: int = 2) -> tuple[float, float]:
    """Between which numbers the true one lies: with 1, 2 or 3 standard deviations in 68, 95 or 99.7 of 100 cases."""
    found = _read(sketch)
    return float(found.get_lower_bound(deviations)), float(found.get_upper_bound(deviations))


def union(*sketches: bytes, lg_k: int = 12) -> bytes:
    """The values that are in any of the sets; `lg_k`: how fine the result is, as `theta` has it."""
    from datasketches import theta_union

    whole = theta_union(lg_k)
    for sketch in sketches:
        whole.update(_read(sketch))
    return _written(whole.get_result())


def intersection(first: bytes, *others: bytes) -> bytes:
    """The values that are in all of the sets."""
    from datasketches import theta_intersection

    common = theta_intersection()
    for sketch in (first, *others):
        common.update(_read(sketch))
    return _written(common.get_result())


def difference(one: bytes, other: bytes) -> bytes:
    """The values of the first set that are not in the second."""
    from datasketches import theta_a_not_b

    return _written(theta_a_not_b().compute(_read(one), _read(other)))


def _read(sketch: bytes) -> compact_theta_sketch:
    from datasketches import compact_theta_sketch

    return compact_theta_sketch.deserialize(sketch)


def _written(sketch: compact_theta_sketch) -> bytes:
    found: bytes = sketch.serialize()
    return found
