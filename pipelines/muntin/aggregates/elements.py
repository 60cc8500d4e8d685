"""An aggregate for each place of lists: `elementwise("readings", mean("readings"))` gives a list."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.aggregates.aggregate import Aggregate, Field, check_inner
from muntin.aggregates.grouping import asked_of, grouped
from muntin.aggregates.parts.lifts import Elements, OfElement, depth
from muntin.definition.expressions import expression
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    import pyarrow as pa

    from muntin.aggregates.aggregate import About

PLACE = "muntin_place"


def elementwise(lists: str | Sequence[str], aggregate: Aggregate, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A list of results: the aggregate of the first elements of a list column, of the second elements, and so on.

    The result is as long as the longest list of the window. A shorter list does not count at the places that it lacks.
    IBM Streams does the same with list attributes.

    Args:
        lists: a list column, or several list columns whose elements at a place belong together. Inside the aggregate, the
            name of a column means an element: `elementwise(["xs", "ys"], covariance("xs", "ys"))`.
        aggregate: any aggregate. A state keeps the aggregate's state for each place.
        where: SQL condition that rows must meet. Here the columns are lists.

    Raises:
        DefinitionError: no columns, a text that is not the name of a column, or the second argument is not an aggregate.
    """
    columns = [expression(each, "elementwise") for each in ([lists] if isinstance(lists, str) else lists)]
    if wrong := [each for each in columns if not re.fullmatch(r'\w+|"(?:[^"]|"")*"', each)]:
        raise DefinitionError(f"elementwise: {wrong[0]!r} is not the name of a list column; make it a column of the source first")
    if not columns:
        raise DefinitionError('elementwise: no list columns; name one, as elementwise("readings", aggregates.mean("readings"))')
    if not isinstance(aggregate, Aggregate):
        raise DefinitionError(
            f"elementwise: {aggregate!r} is not an aggregate; give one, as elementwise({columns[0]!r}, aggregates.mean({columns[0]!r}))"
        )
    check_inner("elementwise", aggregate)
    of, fields = ", ".join(columns), aggregate.fields
    elements = Elements(tuple(columns), _place(fields))
    inner = ((OfElement(sql, elements), need) for each in fields for sql, need in asked_of(each))
    field = grouped("elements", f"{of}: {', '.join(each.stem for each in fields)}", fields, elements.place, elements)
    field = replace(field, needs=(*((column, "list") for column in columns), *inner))
    return Aggregate("elementwise", f"{of}, {aggregate}", (field,), _finishing(aggregate), aggregate.uses_window).only(where, **about)


def _place(fields: Sequence[Field]) -> str:
    """The name of the column with the place in a list. A list inside a list has another name."""
    return f"{PLACE}{max(depth(lift) for field in fields for lift in field.lifts.values())}"


def _finishing(aggregate: Aggregate) -> Callable[..., pa.Array]:
    def finished(lists: pa.Array, *bounds: pa.Array) -> pa.Array:
        from muntin.engine.lists.groups import finished_places

        return finished_places(lists, aggregate.finish, *bounds)

    finished.__qualname__ = f"elementwise_{aggregate.finish.__qualname__}"
    return finished
