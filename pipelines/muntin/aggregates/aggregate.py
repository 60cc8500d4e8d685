"""An aggregate is a value: its fields keep what it needs of the rows, its finish makes the result."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypedDict, Unpack

from muntin.aggregates.algebra import Monoid
from muntin.aggregates.lifts import Expression, Lift, Narrowed, OfNothing, PerGroup
from muntin.definition.expressions import expression, stem
from muntin.definition.function_marks import mark
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    import pyarrow as pa


class About(TypedDict, total=False):
    """Description of an aggregate: unit, comment and source; its values are not part of it.

    `unit`: as "min" or "EUR". `comment`: a sentence. Both are shown to people. `source`: the name of the
    source whose rows it takes, where a pipeline has several; all sources unless given.
    """

    unit: str
    comment: str
    source: str


@dataclass(frozen=True, slots=True)
class Field:
    """Columns of a state that combine together.

    Attributes:
        name: of the field. The columns are named by `name` and `of`, so that aggregates over the same
            expression share them.
        of: the SQL expression that the field is about; "" for whole rows.
        parts: (part, lift) in order. The lift fills the column of the part: a SQL aggregate, or a tree of
            `lifts`. The column of the part "" has the name of the field.
        monoid: how the parts of two states combine.
        uses_order: whether the lift reads `ORDINAL`, the position of a row in its batch.
        where: SQL condition. The field takes the rows for which it is true; "" takes all rows.
        is_state: whether a row of the source is a state already. The rows of a frame are then combined, not
            lifted.
        seal: makes the stored columns of the lifted columns, for example a sketch of a list of values. It
            takes Arrow arrays, and gives one Arrow array for each stored part.
        sealed_as: the names of the stored parts, where the seal makes other parts.
        version: of the meaning of the columns. Raise it when a changed seal makes other states of the same
            lift. Old states are then not read as new states.
        source: the name of the source whose rows the field takes, among several; "" takes the rows of all.
        nothing: a SQL relation without rows that the lifts are over, where the rows at hand belong to another
            source.
        needs: (SQL expression, type): what a type must be beyond what the lift asks. The types: "number";
            "order", whose values can be sorted and distinguished; "difference", a number, a date or an
            instant; "list"; "condition".
    """

    name: str
    of: str
    parts: tuple[tuple[str, str | PerGroup], ...]
    monoid: Monoid
    uses_order: bool = False
    where: str = ""
    seal: Callable[..., Sequence[pa.Array]] | None = None
    needs: tuple[tuple[Expression, str], ...] = ()
    is_state: bool = False
    sealed_as: tuple[str, ...] = ()
    version: int = 1
    source: str = ""
    nothing: str = ""

    @property
    def stem(self) -> str:
        """The name of the field in a states file.

        >>> Field("sum", "dep_delay", (), None).stem
        'sum_dep_delay'
        """
        plain = stem(self.name, self.of) + (f"_of_{self.source}" if self.source else "")
        return f"{plain}_{sha256(self.where.encode()).hexdigest()[:6]}" if self.where else plain

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the stored parts."""
        return self.sealed_as or tuple(part for part, _ in self.parts)

    @property
    def columns(self) -> list[str]:
        """The columns of a states file that hold the parts."""
        return [self._column(name) for name in self.names]

    @property
    def lifts(self) -> dict[str, Lift]:
        """Column -> what fills it. Of a field with a seal, the columns that the seal takes."""
        return {self._column(part): self._lift(lift) for part, lift in self.parts}

    @property
    def facts(self) -> str:
        """Everything that the columns depend on. Two fields with equal facts are one field."""
        return self.facts_with(repr)

    def facts_with(self, written: Callable[[Lift], str]) -> str:
        """The facts with each lift as `written` writes it.

        A function of Muntin counts by `version`, any other function by its code. A monoid counts by its
        class, or by the name `known_as` that it gives.
        """
        functions = (self.seal, getattr(self.monoid, "combine", None))
        foreign = [
            each
            for each in functions
            if each and not (getattr(each, "__module__", None) or "").startswith("muntin.")
        ]
        inner = [each.facts_with(written) for each in getattr(self.monoid, "fields", ())]
        lifts = {column: written(lift) for column, lift in self.lifts.items()}
        kind = getattr(self.monoid, "known_as", type(self.monoid).__qualname__)
        source = (self.source,) if self.source else ()
        return repr(
            (self.columns, lifts, kind, self.version, inner, mark(*foreign) if foreign else "", *source)
        )

    def regroups(self, schema: pa.Schema) -> bool:
        """Whether states with this schema combine to the same bits in any order and groups; see `Monoid`."""
        asked = getattr(self.monoid, "regroups", None)
        return asked is not None and asked([schema.field(column).type for column in self.columns])

    def _lift(self, lift: str | PerGroup) -> Lift:
        narrow = Narrowed(lift, self.where) if self.where else lift
        return OfNothing(narrow, self.nothing) if self.nothing else narrow

    def _column(self, part: str) -> str:
        return f"{self.stem}_{part}" if part else self.stem


@dataclass(frozen=True, slots=True)
class Carry:
    """How long a value lasts beyond the window that it came in.

    Attributes:
        us: the greatest age that a value from before a window may have when the window begins, microseconds.
            0: none is carried.
        newest: from the columns of the fields, in order, to the time (int64, microseconds) and the value of
            the last item of each state. Both are null for a state without items.
    """

    us: int
    newest: Callable[..., tuple[pa.Array, pa.Array]]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A question of a user about the rows of a window.

    Attributes:
        name: of the aggregate, for people.
        of: the SQL expression that it is about, over the columns of the source.
        fields: what a state keeps of the rows of a frame.
        finish: makes the results. It takes the columns of the fields in order, as Arrow arrays, and gives one
            Arrow array.
        uses_window: whether finish takes two more arrays: the starts and the ends of the windows
            (timestamp[us, UTC]).
        carry: how long a value from before a window holds in it. Finish then takes two more arrays: the time
            and the value of the last item before each window, null where it is too old. None: a window has
            nothing but its own rows.
        gives_lists: whether results are lists in an order. A window with output="rows" makes a row of each
            item.
        unit, comment: for the comment of the column in published tables; "" where not given.
        source: the name of the source whose rows it takes, among several; "" takes the rows of all.
    """

    name: str
    of: str
    fields: tuple[Field, ...]
    finish: Callable[..., pa.Array]
    uses_window: bool = False
    gives_lists: bool = False
    unit: str = ""
    comment: str = ""
    source: str = ""
    carry: Carry | None = None

    def __str__(self) -> str:
        where = next((field.where for field in self.fields), "")
        return (
            f"{self.name}({self.of})"
            + (f" of {self.source}" if self.source else "")
            + (f" where {where}" if where else "")
        )

    def only(self, where: str | None, **about: Unpack[About]) -> Aggregate:
        """The aggregate over the rows that meet a condition, or all; `about`: unit, comment, source."""
        if about:
            about = _texts(self.name, about)
            fields = (
                tuple(replace(field, source=about["source"]) for field in self.fields)
                if "source" in about
                else self.fields
            )
            return replace(self, **about, fields=fields).only(where)
        if where is None:
            return self
        if not isinstance(where, str) or not where.strip():
            raise DefinitionError(
                f'{self.name}: where={where!r} is not a SQL condition; write one, as where="price > 0", or '
                "leave it out"
            )
        where = expression(where, f"{self.name}, where")
        return replace(
            self,
            fields=tuple(
                replace(field, where=f"({field.where}) AND ({where})" if field.where else where)
                for field in self.fields
            ),
        )


def _texts(aggregate: str, about: About) -> About:
    """A unit, a comment and the name of a source."""
    for name, text in about.items():
        if name not in About.__annotations__:
            raise DefinitionError(
                f"{aggregate}: there is no argument {name!r}; unit and comment describe a result, source "
                "names a source"
            )
        if not isinstance(text, str):
            raise DefinitionError(f'{aggregate}: {name}={text!r} is no text; write one, as {name}="min"')
    return about


def check_inner(name: str, aggregate: Aggregate) -> None:
    """Refuse an inner aggregate that names a source or carries values: the outer aggregate chooses rows."""
    if aggregate.carry:
        raise DefinitionError(
            f"{name}: {aggregate} carries values from window to window, and {name} knows a window's own rows "
            "alone; "
            "make the group a key of the pipeline, or leave carry out"
        )
    if aggregate.source:
        raise DefinitionError(
            f"{name}: {aggregate} names a source inside of {name}; say source={aggregate.source!r} in "
            f"{name}(...) itself"
        )


def sealed(states: pa.Table, fields: Iterable[Field]) -> pa.Table:
    """Put the stored columns in the place of the lifted columns, where a field has a seal."""
    for field in fields:
        if field.seal is not None:
            at = states.column_names.index(next(iter(field.lifts)))
            stored = field.seal(*(states[column].combine_chunks() for column in field.lifts))
            states = states.drop_columns(list(field.lifts))
            for place, (column, part) in enumerate(zip(field.columns, stored, strict=True), at):
                states = states.add_column(place, column, part)
    return states


def asked_of(field: Field) -> tuple[tuple[Expression, str], ...]:
    """The columns that an inner field needs, with the field's own condition."""
    return (*field.needs, (field.where, "condition")) if field.where else field.needs


def runs_code(field: Field) -> bool:
    """Whether to read a state of a field may run code that is in the state: it is a pickle, or holds some."""
    inner = getattr(field.monoid, "fields", ())
    return getattr(field.monoid, "read", None) is pickle.loads or any(map(runs_code, inner))
