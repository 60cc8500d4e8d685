"""Sets from the bytes of `theta`: their union, intersection and difference, and about how many values they
hold.

With the results of two windows, `theta_sets.estimate(theta_sets.intersection(monday, tuesday))` says about
how many came on both days.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datasketches import compact_theta_sketch


def estimate(sketch: bytes) -> float:
    """About the number of values in the set. Exact below 2**lg_k values."""
    return float(_read(sketch).get_estimate())


def bounds(sketch: bytes, deviations: int = 2) -> tuple[float, float]:
    """Bounds of the number of values: 1, 2 or 3 standard deviations hold in 68, 95 or 99.7 of 100 cases."""
    own = _read(sketch)
    return float(own.get_lower_bound(deviations)), float(own.get_upper_bound(deviations))


def union(*sketches: bytes, lg_k: int = 12) -> bytes:
    """The values of any of the sets. `lg_k` is the size of the result, as in `theta`."""
    from datasketches import theta_union

    whole = theta_union(lg_k)
    for sketch in sketches:
        whole.update(_read(sketch))
    return _written(whole.get_result())


def intersection(first: bytes, *others: bytes) -> bytes:
    """The values that all sets have."""
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
    data: bytes = sketch.serialize()
    return data
