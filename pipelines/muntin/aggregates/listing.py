"""Monoids of lists: sorted items, values with their counts, the newest item of each key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.aggregates.algebra import Columns
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.states.columns import ORDER, ORDINAL

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Listed:
    """The items of all states in one list, sorted by the parts `by`, then by arrival. A null comes last.

    The parts of a state are lists of equal length; a null is an empty list.

    Attributes:
        name: of the monoid.
        by: the parts that sort, the most important first.
        falling: the parts of `by` that sort from the greatest to the least.
        limit: how many items are kept; None keeps all.
        newest: whether the limit keeps the last items, not the first.
        ordered: whether equal items can be distinguished.
        known_as: the class of the monoid in the facts of a field. Facts find states: a field whose states
            another class made first keeps the name of that class.
    """

    name: str
    by: tuple[str, ...]
    falling: tuple[str, ...] = ()
    limit: int | None = None
    newest: bool = False
    ordered: bool = True
    known_as: str = "Listed"

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        from muntin.engine.ordered_lists import put_together

        by = [(parts[part].flatten(), part in self.falling) for part in self.by]
        lists = put_together(list(parts.values()), windows, by=by, limit=self.limit, newest=self.newest)
        return dict(zip(parts, lists, strict=True))


@dataclass(frozen=True, slots=True)
class Counted:
    """Distinct values, sorted, and their counts: the parts `values` and `counts`."""

    name = "counted"
    ordered = False

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        from muntin.engine.ordered_lists import counted

        return dict(
            zip(("values", "counts"), counted(parts["values"], parts["counts"], windows), strict=True)
        )


@dataclass(frozen=True, slots=True)
class Newest:
    """For each of the `keys` the item with the latest of the `times`, of equal times the last to arrive."""

    name = "newest"
    ordered = True

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        from muntin.engine.ordered_lists import newest

        return dict(
            zip(parts, newest(parts["keys"], parts["times"], list(parts.values()), windows), strict=True)
        )


COUNTED = Counted()
NEWEST = Newest()
GATHER = "Gather"  # `Listed.known_as` of the fields whose first states a class of this name made


def items(x: str, present: str, limit: int | None = None) -> str:
    """The SQL aggregate that lists `x` by (event time, arrival) over rows that meet `present`."""
    every = f"coalesce(list({x} ORDER BY {ORDER}, {ORDINAL}) FILTER (WHERE {present}), [])"
    return every if limit is None else f"({every})[1:{limit}]"


def checked_limit(name: str, limit: object) -> int | None:
    """The limit that a user gives."""
    if limit is None or (isinstance(limit, int) and not isinstance(limit, bool) and limit > 0):
        return limit
    raise DefinitionError(
        f"{name}: limit is {limit!r}; give a whole number from 1, or leave it out to keep every value"
    )
