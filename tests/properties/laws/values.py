"""What an aggregate makes of a column of values, and of the same split into states, in the types that SQL gives."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from muntin.aggregates.aggregate import Aggregate
from tests.properties.equal_values import alike
from tests.properties.laws.states import combine, finish, lift, pieces

SECOND = 1_000_000


def over(aggregate: Aggregate, kind: pa.DataType, x: Sequence[Any], y: Sequence[Any] | None = None, times: Iterable[int] = ()) -> Any:
    """The result over rows a second apart, lifted at once. It must be the same from states of one row, and of two halves."""
    seconds = list(times) or list(range(len(x)))
    paired = list(y) if y is not None else [None] * len(x)
    rows = [{"x": x[at], "y": paired[at], "time": seconds[at] * SECOND} for at in range(len(x))]
    kinds = {"x": kind, "y": pa.infer_type(paired) if y is not None else pa.int64()}
    whole = finish(aggregate, lift(aggregate, rows, kinds))
    for size in (1, max(1, len(rows) // 2)):
        states = pieces(aggregate, rows, kinds, size)
        apart = finish(aggregate, combine(aggregate, *states, mid=1 if len(states) > 1 else None)) if rows else whole
        assert alike(apart, whole), f"{aggregate} of states of {size}: {apart!r}, at once: {whole!r}"
    return whole
