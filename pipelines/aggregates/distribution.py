"""How values are spread: exactly, from the values and how often each came. States are as long as there are values."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from pipelines.aggregates.aggregate import Aggregate, Field
from pipelines.aggregates.algebra import SUM
from pipelines.aggregates.listing import COUNTED
from pipelines.definition.expressions import expression
from pipelines.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa


def counts_of(x: str, need: str = "order") -> Field:
    """The values of `x` but nulls, each once, and how often each comes. All zeros are one value, and all NaNs."""
    found = f"histogram({x})"
    parts = (("values", f"coalesce(map_keys({found}), [])"), ("counts", f"coalesce(map_values({found}), [])::BIGINT[]"))
    return Field("counts", x, parts, COUNTED, needs=((x, need),))


def count_distinct(x: str, *, where: str | None = None) -> Aggregate:
    """How many different values `x` has, exactly; nulls do not count."""
    x = expression(x, "count_distinct")
    return Aggregate("count_distinct", x, (counts_of(x),), _how_many).only(where)


def _how_many(values: pa.Array, counts: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
    import pyarrow as pa

    return values.value_lengths().cast(pa.int64())


def count_by(x: str, *, where: str | None = None) -> Aggregate:
    """A map from each value of `x` to the number of rows that have it, sorted by value; nulls do not count."""
    x = expression(x, "count_by")
    return Aggregate("count_by", x, (counts_of(x),), _map).only(where)


def _doubles_of(x: str) -> Field:
    return replace(counts_of(f"({x})::DOUBLE"), needs=((x, "number"),))


def _map(values: pa.Array, counts: pa.Array) -> pa.Array:
    from pipelines.engine.lists.ordered import mapped

    return mapped(values, counts)


def mode(x: str, *, where: str | None = None) -> Aggregate:
    """The value of `x` that most rows have; of equally frequent ones the least; null where every value is null."""
    x = expression(x, "mode")
    return Aggregate("mode", x, (counts_of(x),), _most).only(where)


def _most(values: pa.Array, counts: pa.Array) -> pa.Array:
    from pipelines.engine.lists.counted import most_frequent

    return most_frequent(values, counts)


def median(x: str, *, where: str | None = None) -> Aggregate:
    """The median of `x` as a double, of an even number of values the mean of the middle two; null where all are null."""
    x = expression(x, "median")
    return Aggregate("median", x, (_doubles_of(x),), _quantile(0.5)).only(where)


def percentile(x: str, q: float, *, where: str | None = None) -> Aggregate:
    """The exact quantile of `x` as a double: linear between its neighbours, as SQL's percentile_cont.

    A NaN is greater than any number. Null where every value is null.

    Args:
        x: SQL expression, a number.
        q: from 0, the least value, to 1, the greatest.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: `q` is no number from 0 to 1.
    """
    x, q = expression(x, "percentile"), fraction("percentile", q)
    return Aggregate("percentile", f"{x}, {q!r}", (_doubles_of(x),), _quantile(q)).only(where)


def fraction(name: str, q: object) -> float:
    """A quantile as users give it.

    Raises:
        DefinitionError: no number from 0 to 1.
    """
    if isinstance(q, bool) or not isinstance(q, int | float) or not 0 <= q <= 1:
        raise DefinitionError(f"{name}: {q!r} is not possible; give a number from 0 to 1, as 0.9 for the 90th percentile")
    return float(q)


def _quantile(q: float) -> Callable[..., pa.Array]:
    def quantile(values: pa.Array, counts: pa.Array) -> pa.Array:
        from pipelines.engine.lists.counted import interpolated

        return interpolated(values, counts, q)

    return quantile


def histogram(x: str, edges: Sequence[float], *, where: str | None = None) -> Aggregate:
    """How many values of `x` lie between neighbouring edges, as a list of one count fewer than there are edges.

    An interval holds its lower edge, the last one also its upper, as numpy's histogram. Values outside the edges, NaN
    and null are not counted; edges of minus and plus infinity take in every number.

    Args:
        x: SQL expression, a number.
        edges: at least two numbers, ascending.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: fewer than two edges, or some that do not ascend.
    """
    x, edges = expression(x, "histogram"), _ascending(edges)
    bounds = list(pairwise(edges))
    lifts = tuple((str(at), _between(x, low, high, last=at == len(bounds) - 1)) for at, (low, high) in enumerate(bounds))
    said = f"{x}, {edges!r}"
    return Aggregate("histogram", said, (Field("histogram", said, lifts, SUM),), _side_by_side).only(where)


def _between(x: str, low: float, high: float, *, last: bool) -> str:
    return f"count(*) FILTER (WHERE ({x}) >= {_number(low)} AND ({x}) {'<=' if last else '<'} {_number(high)})"


def _number(edge: float) -> str:
    return str(edge) if isinstance(edge, int) else f"'{edge!r}'::DOUBLE"


def _ascending(edges: object) -> list[float]:
    found = list(edges) if isinstance(edges, list | tuple | range) else []
    numbers = all(isinstance(edge, int | float) and not isinstance(edge, bool) and not math.isnan(edge) for edge in found)
    if len(found) < 2 or not numbers or any(low >= high for low, high in pairwise(found)):  # noqa: PLR2004 - two edges make an interval
        raise DefinitionError(f"histogram: edges {edges!r} are not possible; give at least two numbers that ascend, as [0, 10, 20]")
    return [edge if isinstance(edge, int) else float(edge) for edge in found]


def _side_by_side(*counts: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    from pipelines.engine.lists.ordered import listed

    table = np.column_stack([count.to_numpy(zero_copy_only=False) for count in counts]).astype(np.int64)
    return listed(np.full(len(table), len(counts)), pa.array(table.ravel()))
