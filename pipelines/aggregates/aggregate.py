"""An aggregate is a value: fields that rows are lifted into and that combine, and a finish over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.definition.expressions import expression, stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa

    from pipelines.aggregates.algebra import Monoid

__all__ = ["ORDER", "ORDINAL", "TIME", "Aggregate", "Field", "expression", "sealed"]

# What a lift may use beside the source's columns: the event time, what rows are ordered by before arrival decides (the
# event time, or a constant where windows go by arrival), and a row's place in its batch.
TIME, ORDER, ORDINAL = "muntin_time", "muntin_order", "muntin_ordinal"


@dataclass(frozen=True, slots=True)
class Field:
    """Some columns of a state that combine together.

    Attributes:
        name: of the field; with `of` it names the columns, so that aggregates over one expression share them.
        of: the SQL expression it is about; "" for whole rows.
        parts: (part, SQL aggregate that lifts rows to it), in order. A part without a name is the field itself.
        monoid: how parts combine.
        uses_order: whether the lift reads `ORDINAL`, the position of a row in its batch.
        seal: what Python makes of a lifted column before it is stored, as a list of values becomes a sketch.
    """

    name: str
    of: str
    parts: tuple[tuple[str, str], ...]
    monoid: Monoid
    uses_order: bool = False
    seal: Callable[[pa.Array], pa.Array] | None = None

    @property
    def stem(self) -> str:
        """The field's name in a states file.

        >>> Field("sum", "dep_delay", (), None).stem
        'sum_dep_delay'
        """
        return stem(self.name, self.of)

    @property
    def columns(self) -> dict[str, str]:
        """Column of a states file -> the SQL aggregate that fills it."""
        return {f"{self.stem}_{part}" if part else self.stem: lift for part, lift in self.parts}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What a user asks of a window's rows.

    Attributes:
        name: of the aggregate, for people.
        of: the SQL expression over the source's columns that it is about.
        fields: what is kept of the rows of a frame.
        finish: from the columns of the fields, in order, to the result: Arrow arrays in, one Arrow array out.
    """

    name: str
    of: str
    fields: tuple[Field, ...]
    finish: Callable[..., pa.Array]

    def __str__(self) -> str:
        return f"{self.name}({self.of})"


def sealed(states: pa.Table, fields: Iterable[Field]) -> pa.Table:
    """States with the columns of fields that have a seal as they are stored."""
    for field in fields:
        if field.seal is not None:
            for column in field.columns:
                states = states.set_column(states.column_names.index(column), column, field.seal(states[column].combine_chunks()))
    return states
