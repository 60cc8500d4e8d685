"""The fields that the aggregates of a pipeline need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.aggregates.counting import ROW_COUNT
from muntin.definition.parts import distinct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.aggregates.aggregate import Field
    from muntin.definition.parts import Aggregate


def shared_fields(aggregates: Mapping[str, Aggregate]) -> list[Field]:
    """The distinct fields of some aggregates. The number of rows comes first."""
    return distinct([("the number of rows", [ROW_COUNT]), *((each, each.fields) for each in aggregates.values())])
