"""Whether a condition is true in all rows, or in any row. Rows in which it is null are left out, as in SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.algebra import Select
from muntin.definition.expressions import expression
from muntin.definition.plain_lifts import Plain

if TYPE_CHECKING:
    from typing import Unpack

    import pyarrow as pa

    from muntin.aggregates.aggregate import About


def _itself(value: pa.Array) -> pa.Array:
    return value


def all_of(condition: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """Whether a SQL condition is true in every row in which it is not null; null where it is null in every row."""
    condition = expression(condition, "all_of")
    field = Field("all", condition, (("", Plain(f"bool_and({condition})", "value", condition)),), Select("all", by="", least=True))
    return Aggregate("all_of", condition, (field,), _itself).only(where, **about)


def any_of(condition: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """Whether a SQL condition is true in at least one row; null where it is null in every row."""
    condition = expression(condition, "any_of")
    field = Field("any", condition, (("", Plain(f"bool_or({condition})", "value", condition)),), Select("any", by="", least=False))
    return Aggregate("any_of", condition, (field,), _itself).only(where, **about)
