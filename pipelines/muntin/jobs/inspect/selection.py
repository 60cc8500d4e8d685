"""Some of a window table: columns, a stretch of time, keys.

Errors for names that a pipeline does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL, instant_us
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError
from muntin.states.columns import INSTANT

if TYPE_CHECKING:
    from datetime import datetime

    from muntin.definition.pipeline import Pipeline


def no_window(pipeline: Pipeline, name: str) -> DefinitionError:
    """There is no window of this name."""
    there, near = ", ".join(pipeline.windows), did_you_mean(name, pipeline.windows)
    return DefinitionError(f"no window {name!r} in pipeline {pipeline.name!r}; there are {there}{near}")


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of windows to read; None stands for everything.

    Attributes:
        columns: names of result columns, in the order they shall have.
        start, end: windows start at or after `start` and end at or before `end`; aware datetimes.
        keys: key column -> a value, or several in a list; None is null.
    """

    columns: Sequence[str] | None = None
    start: datetime | None = None
    end: datetime | None = None
    keys: Mapping[str, Any] | None = None

    def check(self, columns: Sequence[str], keys: Sequence[str]) -> None:
        """See that the columns and keys that are asked for are there, and that the instants fit."""
        for what, asked, there in (("columns", self.columns or (), columns), ("keys", self.keys or (), keys)):
            for name in asked:
                if name not in there:
                    raise DefinitionError(
                        f"{what}: there is no {name!r}; there are"
                        f" {', '.join(there)}{did_you_mean(name, there)}"
                    )
        for what, instant in (("start", self.start), ("end", self.end)):
            if instant is not None:
                instant_us(instant, what)
        if self.start is not None and self.end is not None and self.start > self.end:
            raise DefinitionError(
                f"start: {self.start.isoformat()} is later than the end, {self.end.isoformat()}; no window"
                " lies between"
            )

    def of_keys(self, schema: pa.Schema) -> pc.Expression | None:
        """The condition on the keys, for a table with these types; None where there is none."""
        key_filters = ((name, asked) for name, asked in (self.keys or {}).items() if name in schema.names)
        return _all(_is_among(name, several(asked), schema.field(name).type) for name, asked in key_filters)

    def of_time(self) -> pc.Expression | None:
        """The condition on the windows' bounds; None where there is none."""
        bounds = []
        if self.start is not None:
            bounds.append(pc.field("window_start") >= instant(self.start, "start"))
        if self.end is not None:
            bounds.append(pc.field("window_end") <= instant(self.end, "end"))
        return _all(bounds)

    def between_us(self) -> tuple[int, int]:
        """`start` and `end` as microseconds, or instants before and after all."""
        return (
            BEFORE_ALL if self.start is None else instant_us(self.start, "start"),
            AFTER_ALL if self.end is None else instant_us(self.end, "end"),
        )

    def filtered(self, table: pa.Table) -> pa.Table:
        for condition in (self.of_keys(table.schema), self.of_time()):
            table = table if condition is None else table.filter(condition)
        return table


def instant(moment: datetime | int, what: str = "time") -> pa.Scalar:
    """An instant, or microseconds since 1970, as Arrow has it."""
    us = moment if isinstance(moment, int) else instant_us(moment, what)
    return pa.scalar(us, pa.int64()).cast(INSTANT)


def several(asked: Any) -> list[Any]:  # noqa: ANN401 - a key's value, or some
    """The values that are asked for of a key column, given as a single value or as a list."""
    return list(asked) if isinstance(asked, list | tuple | set | frozenset) else [asked]


def _is_among(name: str, values: Sequence[Any], kind: pa.DataType) -> pc.Expression:
    if pa.types.is_null(kind):  # of a table without rows
        return pc.field(name).is_null()
    try:
        key_values = pa.array([value for value in values if value is not None]).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise DefinitionError(
            f"keys: {', '.join(map(repr, values))} cannot be read as {kind}, which {name!r} is"
        ) from None
    condition = pc.field(name).isin(key_values)
    return condition | pc.field(name).is_null() if None in values else condition


def _all(conditions: Iterable[pc.Expression]) -> pc.Expression | None:
    terms = list(conditions)
    return reduce(and_, terms) if terms else None
