"""What aggregates over distances from a mean have in common: rows are lifted to lists of doubles, and sealed to columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.engine.reduce.central_moments import Sums


def doubles(**of: str) -> tuple[tuple[str, str], ...]:
    """For each name the lift of a SQL expression to a list of doubles, nulls among them, parallel to the others.

    >>> doubles(a="x")
    (('a', 'coalesce(list((x)::DOUBLE), [])'),)
    """
    return tuple((name, f"coalesce(list(({x})::DOUBLE), [])") for name, x in of.items())


def counted_columns(sums: Sums) -> list[pa.Array]:
    """The columns of a matrix, the first one as whole numbers."""
    import pyarrow as pa

    count, *rest = (pa.array(column) for column in sums.T)
    return [count.cast(pa.int64()), *rest]
