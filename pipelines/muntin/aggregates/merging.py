"""Aggregates of an upstream pipeline, combined from its states: the mean of all rows, not a mean of means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from muntin.aggregates.aggregate import Aggregate, Field
from muntin.errors import DefinitionError
from muntin.states.columns import STATE_PREFIX


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
