"""How values are spread: exact results. A state keeps every distinct value and its count."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import SUM
from muntin.aggregates.listing import COUNTED
from muntin.definition.expressions import Plain, expression
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_EDGES = 1_001


def counts_of(x: str, need: str = "order") -> Field:
    """The distinct values of `x` and their counts, without null. 0.0 equals -0.0, and NaN equals NaN."""
    histogram = f"histogram({x})"
    values = Plain(f"coalesce(map_keys({histogram}), [])", "distinct", x)
    counts = Plain(f"coalesce(map_values({histogram}), [])::BIGINT[]", "occurrences", x)
    return Field("counts", x, (("values", values), ("counts", counts)), COUNTED, needs=((x, need),))


def count_distinct(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The exact number of distinct values of `x`; nulls do not count."""
    x = expression(x, "count_distinct")
    return Aggregate("count_distinct", x, (counts_of(x),), _how_many).only(where, **about)


def _how_many(values: pa.Array, counts: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    import pyarrow as pa

    return values.value_lengths().cast(pa.int64())


def count_by(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A map from each value of `x` to its number of rows, sorted by value; nulls do not count."""
    x = expression(x, "count_by")
    return Aggregate("count_by", x, (counts_of(x),), _map).only(where, **about)


def _doubles_of(x: str) -> Field:
    return replace(counts_of(f"({x})::DOUBLE"), needs=((x, "number"),))


def _map(values: pa.Array, counts: pa.Array) -> pa.Array:
    from muntin.engine.ordered_lists import mapped

    return mapped(values, counts)


def mode(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The most frequent value of `x`; of equally frequent values the least; null where all are null."""
    x = expression(x, "mode")
    return Aggregate("mode", x, (counts_of(x),), _most).only(where, **about)


def _most(values: pa.Array, counts: pa.Array) -> pa.Array:
    from muntin.engine.lists.groups import most_frequent

    return most_frequent(values, counts)


def entropy(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The Shannon entropy of the values of `x` in bits: 0 where all are equal, null where all are null."""
    x = expression(x, "entropy")
    return Aggregate("entropy", x, (counts_of(x),), _bits).only(where, **about)


def _bits(values: pa.Array, counts: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    lengths = values.value_lengths().to_numpy()
    often = counts.flatten().to_numpy()
    window = np.repeat(np.arange(len(lengths)), lengths)
    share = often / np.bincount(window, often, len(lengths))[window]
    return pa.array(
        np.bincount(window, share * -np.log2(share), len(lengths)) + 0.0, mask=lengths == 0
    )  # + 0.0: no -0.0


def median(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The median of `x` as a double: of an even number the mean of the middle two; null where all are."""
    x = expression(x, "median")
    return Aggregate("median", x, (_doubles_of(x),), _quantile(0.5)).only(where, **about)


def percentile(x: str, q: float, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """The exact quantile of `x` as a double, linear between neighbours as percentile_cont of SQL; null where
    every value is null.

    A NaN is greater than any number.

    Args:
        x: SQL expression, a number.
        q: from 0, the least value, to 1, the greatest value.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: `q` is not a number from 0 to 1.
    """
    x = expression(x, "percentile")
    q = fraction("percentile", q)
    return Aggregate("percentile", f"{x}, {q!r}", (_doubles_of(x),), _quantile(q)).only(where, **about)


def fraction(name: str, q: object) -> float:
    """The number of a quantile that a user gives."""
    if isinstance(q, bool) or not isinstance(q, int | float) or not 0 <= q <= 1:
        raise DefinitionError(
            f"{name}: {q!r} is not possible; give a number from 0 to 1, as 0.9 for the 90th percentile"
        )
    return float(q)


def _quantile(q: float) -> Callable[..., pa.Array]:
    def quantile(values: pa.Array, counts: pa.Array) -> pa.Array:
        from muntin.engine.lists.groups import interpolated

        return interpolated(values, counts, q)

    return quantile


def histogram(
    x: str, edges: Sequence[float], *, where: str | None = None, **about: Unpack[About]
) -> Aggregate:
    """A list of counts: how many values of `x` lie in each `[edge, next edge)`; the last holds its upper
    edge, too.

    So numpy's histogram has it. Values outside the edges, NaN and null do not count. The edges may be minus
    and plus infinity.

    Args:
        x: SQL expression, a number.
        edges: at least two numbers, ascending.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: fewer than two edges, more than 1,001, or edges that do not ascend.
    """
    x = expression(x, "histogram")
    edges = _ascending(edges)
    bounds = list(pairwise(edges))
    lifts = tuple(
        (str(at), _between(x, low, high, last=at == len(bounds) - 1)) for at, (low, high) in enumerate(bounds)
    )
    said = f"{x}, {edges!r}"
    return Aggregate("histogram", said, (Field("histogram", said, lifts, SUM),), _side_by_side).only(
        where, **about
    )


def _between(x: str, low: float, high: float, *, last: bool) -> str:
    return (
        f"count(*) FILTER (WHERE ({x}) >= {_number(low)} AND ({x}) {'<=' if last else '<'} {_number(high)})"
    )


def _number(edge: float) -> str:
    return str(edge) if isinstance(edge, int) else f"'{edge!r}'::DOUBLE"


def _ascending(edges: object) -> list[float]:
    borders = list(edges) if isinstance(edges, list | tuple | range) else []
    numbers = all(
        isinstance(edge, int | float) and not isinstance(edge, bool) and not math.isnan(edge)
        for edge in borders
    )
    if len(borders) < 2 or not numbers or any(low >= high for low, high in pairwise(borders)):  # noqa: PLR2004 - two edges make an interval
        raise DefinitionError(
            f"histogram: edges {edges!r} are not possible; give at least two numbers that ascend, as [0, 10, "
            "20]"
        )
    if len(borders) > _MOST_EDGES:
        raise DefinitionError(
            f"histogram: {len(borders):,} edges, and {_MOST_EDGES:,} are possible, since each interval is a"
            ' column of the states; give wider intervals, or count values, as agg.count_by("x // 10")'
        )
    return [edge if isinstance(edge, int) else float(edge) for edge in borders]


def _side_by_side(*counts: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    from muntin.engine.ordered_lists import listed

    table = np.column_stack([count.to_numpy(zero_copy_only=False) for count in counts]).astype(np.int64)
    return listed(np.full(len(table), len(counts)), pa.array(table.ravel()))
