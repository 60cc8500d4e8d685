"""The product's laws on three lists of rows that a test draws."""

from collections.abc import Sequence

from pipelines.aggregates import Aggregate
from pipelines.laws import prove
from pipelines.laws.states import Kinds, Row

Rows = Sequence[Row]


def check(aggregate: Aggregate, a: Rows, b: Rows, c: Rows, kinds: Kinds) -> None:
    """All laws, each list later than the one before (equal times: later to arrive)."""
    prove(aggregate, [(a, b, c)], kinds)
