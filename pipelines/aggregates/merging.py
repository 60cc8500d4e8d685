"""Aggregates of an upstream pipeline, combined from its states: a mean of means that is the mean of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.errors import DefinitionError
from pipelines.states.columns import STATE_PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.aggregates.aggregate import Aggregate, Field


@dataclass(frozen=True, slots=True)
class Merge:
    """An aggregate of the upstream, by its name there; a pipeline makes an `Aggregate` of it."""

    name: str

    def taken_from(self, upstream: Mapping[str, Aggregate]) -> Aggregate:
        """The upstream's aggregate over its states instead of over rows.

        Raises:
            DefinitionError: there is none of this name.
        """
        if self.name not in upstream:
            raise DefinitionError(f"merge: no aggregate {self.name!r} upstream; there are {', '.join(upstream)}")
        aggregate = upstream[self.name]
        return replace(aggregate, name=f"merge {aggregate.name}", fields=tuple(map(_merged, aggregate.fields)))


def _merged(field: Field) -> Field:
    parts = tuple((part, f'any_value("{STATE_PREFIX}{column}")') for part, column in zip(field.names, field.columns, strict=True))
    return replace(
        field, name=f"merged_{field.stem}", of="", parts=parts, uses_order=False, where="", seal=None, sealed_as=(), needs=(), is_state=True
    )


def merge(name: str) -> Merge:
    """An aggregate of the upstream pipeline, combined from its states, for a source of `sources.windows(...)`.

    The upstream says `keep_states=True`. A sum or a mean of finished results would weigh every window alike.

    Raises:
        DefinitionError: not a name.
    """
    if not isinstance(name, str) or not name:
        raise DefinitionError(f'merge: {name!r} is not the name of an aggregate of the upstream pipeline; give one, as merge("delay")')
    return Merge(name)
