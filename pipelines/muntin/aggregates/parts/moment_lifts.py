"""Lifts and seals for moments: rows become lists of doubles, and the lists become columns of a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.plain_lifts import Plain

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.engine.reduce.central_moments import Sums


def doubles(**of: str) -> tuple[tuple[str, str], ...]:
    """(name, lift) for each SQL expression. The lifts give lists of doubles of equal length, nulls included.

    >>> doubles(a="x")
    (('a', 'coalesce(list((x)::DOUBLE), [])'),)
    """
    return tuple((name, Plain(f"coalesce(list(({x})::DOUBLE), [])", "numbers", x)) for name, x in of.items())


def counted_columns(sums: Sums) -> list[pa.Array]:
    """The columns of a matrix. The first column, a count, becomes int64."""
    import pyarrow as pa

    count, *rest = (pa.array(column) for column in sums.T)
    return [count.cast(pa.int64()), *rest]
