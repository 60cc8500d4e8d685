"""Aggregates made of other aggregates: for each group inside a window, `by`; for each place of lists,
`elementwise`; and out of the states of an upstream pipeline, `merge`: the mean of all rows, not of means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field, asked_of, check_inner
from muntin.aggregates.algebra import Columns
from muntin.aggregates.lifts import Elements, OfElement, PerGroup, depth
from muntin.definition.expressions import expression
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.states.columns import STATE_PREFIX

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Grouped:
    """Lists of (group, parts of the fields). The parts of a group combine by the monoids of the fields."""

    fields: tuple[Field, ...]

    name = "grouped"

    @property
    def ordered(self) -> bool:
        return any(field.monoid.ordered for field in self.fields)

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        from muntin.engine.lists.groups import combined_groups

        return {part: combined_groups(lists, windows, self.fields) for part, lists in parts.items()}

    def shown(self, lists: pa.Array) -> list[Any]:
        """Each state as a list of (group, parts) that can be compared and printed."""
        group, *parts = lists.flatten().flatten()
        monoids = [field.monoid for field in self.fields for _ in field.names]
        columns = [
            each.shown(part) if hasattr(each, "shown") else part.to_pylist()
            for each, part in zip(monoids, parts, strict=True)
        ]
        items = iter(list(zip(group.to_pylist(), *columns, strict=True)))
        return [[next(items) for _ in range(count)] for count in lists.value_lengths().to_pylist()]


def by(group: str, aggregate: Aggregate, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A map from each value of `group` to the aggregate of its rows, sorted by group.

    Rows with a null group are left out, since the key of a map cannot be null: by "coalesce(carrier, 'none')"
    they are there. A state keeps the aggregate's state for each group. A group is left out if `where` is true
    for none of its rows. If only the aggregate's own where= is true for none, the group has the result of no
    rows.

    Raises:
        DefinitionError: the second argument is not an aggregate.
    """
    group = expression(group, "by")
    if not isinstance(aggregate, Aggregate):
        raise DefinitionError(
            f'by: {aggregate!r} is not an aggregate; give one, as by({group!r}, aggregates.mean("x"))'
        )
    check_inner("by", aggregate)
    fields = aggregate.fields
    stems = ", ".join(field.stem for field in fields)
    of = f"{group}: {stems}"
    needs = ((group, "order"), *(need for each in fields for need in asked_of(each)))
    field = replace(grouped("by", of, fields, group), needs=needs)
    return Aggregate(
        "by", f"{group}, {aggregate}", (field,), _finishing(aggregate), aggregate.uses_window
    ).only(where, **about)


def grouped(
    name: str, of: str, fields: Sequence[Field], group: str, elements: Elements | None = None
) -> Field:
    """A field that keeps the parts of other fields, for each group of a state's rows or of their elements."""
    lifts = tuple(lift for field in fields for lift in field.lifts.values())
    uses_order = any(each.uses_order for each in fields)
    return Field(
        name,
        of,
        (("", PerGroup(group, lifts, elements)),),
        Grouped(tuple(fields)),
        uses_order,
        seal=_sealing(fields),
    )


def _sealing(fields: Sequence[Field]) -> Callable[[pa.Array], Sequence[pa.Array]] | None:
    if not any(field.seal for field in fields):
        return None

    def stored(parts: Sequence[pa.Array]) -> list[pa.Array]:
        rest = iter(parts)
        each = [(field.seal, list(islice(rest, len(field.parts)))) for field in fields]
        return [part for seal, lifted in each for part in (seal(*lifted) if seal else lifted)]

    def sealed(lists: pa.Array) -> Sequence[pa.Array]:
        from muntin.engine.lists.groups import changed

        return [changed(lists, stored)]

    return sealed


def _finishing(aggregate: Aggregate) -> Callable[..., pa.Array]:
    def finished(lists: pa.Array, *bounds: pa.Array) -> pa.Array:
        from muntin.engine.lists.groups import finished_groups

        return finished_groups(lists, aggregate.finish, *bounds)

    finished.__qualname__ = f"by_{aggregate.finish.__qualname__}"
    return finished


PLACE = "muntin_place"


def elementwise(
    lists: str | Sequence[str], aggregate: Aggregate, *, where: str | None = None, **about: Unpack[About]
) -> Aggregate:
    """A list of results: the aggregate of the first elements of a list column, of the second elements, and so
    on.

    The result is as long as the longest list of the window. A shorter list does not count at the places that
    it lacks. IBM Streams does the same with list attributes.

    Args:
        lists: a list column, or several list columns whose elements at a place belong together. Inside the
            aggregate, the name of a column means an element: `elementwise(["xs", "ys"], covariance("xs",
            "ys"))`.
        aggregate: any aggregate. A state keeps the aggregate's state for each place.
        where: SQL condition that rows must meet. Here the columns are lists.

    Raises:
        DefinitionError: no columns, a text that is not the name of a column, or the second argument is not an
            aggregate.
    """
    columns = [expression(each, "elementwise") for each in ([lists] if isinstance(lists, str) else lists)]
    if wrong := [each for each in columns if not re.fullmatch(r'\w+|"(?:[^"]|"")*"', each)]:
        raise DefinitionError(
            f"elementwise: {wrong[0]!r} is not the name of a list column; make it a column of the source "
            "first"
        )
    if not columns:
        raise DefinitionError(
            'elementwise: no list columns; name one, as elementwise("readings", aggregates.mean("readings"))'
        )
    if not isinstance(aggregate, Aggregate):
        raise DefinitionError(
            f"elementwise: {aggregate!r} is not an aggregate; give one, as elementwise({columns[0]!r}, "
            f"aggregates.mean({columns[0]!r}))"
        )
    check_inner("elementwise", aggregate)
    of, fields = ", ".join(columns), aggregate.fields
    nesting = max(depth(lift) for field in fields for lift in field.lifts.values())
    elements = Elements(
        tuple(columns), f"{PLACE}{nesting}"
    )  # a list inside a list has another name of its place
    inner = ((OfElement(sql, elements), need) for each in fields for sql, need in asked_of(each))
    field = grouped(
        "elements", f"{of}: {', '.join(each.stem for each in fields)}", fields, elements.place, elements
    )
    field = replace(field, needs=(*((column, "list") for column in columns), *inner))
    return Aggregate(
        "elementwise", f"{of}, {aggregate}", (field,), _of_places(aggregate), aggregate.uses_window
    ).only(where, **about)


def _of_places(aggregate: Aggregate) -> Callable[..., pa.Array]:
    def finished(lists: pa.Array, *bounds: pa.Array) -> pa.Array:
        from muntin.engine.lists.groups import finished_places

        return finished_places(lists, aggregate.finish, *bounds)

    finished.__qualname__ = f"elementwise_{aggregate.finish.__qualname__}"
    return finished


@dataclass(frozen=True, slots=True)
class Merge:
    """The name of an aggregate of the upstream. A pipeline makes an `Aggregate` of it."""

    name: str
    source = ""

    def taken_from(self, upstream: Mapping[str, Aggregate]) -> Aggregate:
        """The aggregate of the upstream, over states instead of rows."""
        if self.name not in upstream:
            raise DefinitionError(
                f"merge: no aggregate {self.name!r} upstream; there are {', '.join(upstream)}"
            )
        aggregate = upstream[self.name]
        if aggregate.carry:
            raise DefinitionError(
                f"merge: {self.name!r} is {aggregate}, whose values last from window to window, and a state "
                "has those of its own window "
                "alone; merge an aggregate without carry, or ask the source of the rows with carry"
            )
        return replace(
            aggregate, name=f"merge {aggregate.name}", source="", fields=tuple(map(_merged, aggregate.fields))
        )


def _merged(field: Field) -> Field:
    parts = tuple(
        (part, f'any_value("{STATE_PREFIX}{column}")')
        for part, column in zip(field.names, field.columns, strict=True)
    )
    rows = replace(
        field, uses_order=False, where="", source="", seal=None, sealed_as=(), needs=(), is_state=True
    )
    return replace(rows, name=f"merged_{field.stem}", of="", parts=parts)


def merge(name: str) -> Merge:
    """An aggregate of the upstream pipeline, combined from its states, for a source of
    `sources.windows(...)`.

    The upstream must say `retain=Retain(states_in_windows=True)`. A mean of finished results would be wrong:
    every window would count the same.

    Raises:
        DefinitionError: `name` is not a text, or is empty.
    """
    if not isinstance(name, str) or not name:
        raise DefinitionError(
            f"merge: {name!r} is not the name of an aggregate of the upstream pipeline; give one, as "
            'merge("delay")'
        )
    return Merge(name)
