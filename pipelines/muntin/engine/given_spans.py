"""The spans of time that a table gives, as windows over them have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import DefinitionError
from muntin.states.columns import INSTANT
from muntin.states.frames import NO_INTS, Flags, Ints
from muntin.states.keys import codes_of, contiguous, key_codes
from muntin.states.order import sorted_order

START, END = "window_start", "window_end"


@dataclass(frozen=True, eq=False)
class GivenSpans:
    """Spans `[start, end)` of keys, each with its attributes; sorted by key, start, end and attributes, no
    two alike.

    Attributes:
        table: key columns, `START`, `END` (timestamp us UTC), attributes.
        keys: the names of the key columns; () where each span is of every key.
        named: the table that they were read from, with its version, for people.
    """

    table: pa.Table
    keys: tuple[str, ...] = ()
    named: str = ""

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def start(self) -> Ints:
        """The starts, microseconds."""
        return _instants(self.table[START])

    @cached_property
    def end(self) -> Ints:
        """The ends, microseconds."""
        return _instants(self.table[END])

    @cached_property
    def longest_us(self) -> int:
        """The length of the longest span; 0 if there is none."""
        return int((self.end - self.start).max(initial=0))

    @cached_property
    def more(self) -> pa.Table:
        """The attributes."""
        return self.table.drop_columns([*self.keys, START, END])

    def over(self, low_us: int, high_us: int) -> Flags:
        """Which spans hold an instant between two instants, both included."""
        return (self.start <= high_us) & (self.end > low_us)

    def apart_from(self, other: GivenSpans) -> tuple[Ints, Ints]:
        """Starts and ends of spans that one of two tables has alone; of all spans if columns differ."""
        exact = not any(map(pa.types.is_floating, self.table.schema.types))  # to Arrow 0.0 equals -0.0
        if exact and self.table.equals(other.table):
            return NO_INTS, NO_INTS
        both = [self.table, other.table]
        if self.table.schema.remove_metadata().equals(other.table.schema.remove_metadata()):
            rows = pa.concat_tables(both)
            counted = rows.group_by(rows.column_names).aggregate([([], "count_all")])
            both = [counted.filter(pc.equal(counted["count_all"], 1))]
        start, end = (np.concatenate([_instants(table[name]) for table in both]) for name in (START, END))
        return start, end

    def of_keys(self, keys: pa.Table) -> tuple[Ints, Ints]:
        """The first span of each key, and the first span behind its last. `keys`: a row for each key."""
        if not self.keys:
            return np.zeros(len(keys), np.int64), np.full(len(keys), len(self))
        columns = [
            pa.concat_arrays([self._key_as(name, keys[name].type), contiguous(keys[name])])
            for name in self.keys
        ]
        codes = key_codes(columns, len(self) + len(keys))
        ours, theirs = codes[: len(self)], codes[len(self) :]
        first, behind = (np.searchsorted(ours, theirs, side=side) for side in ("left", "right"))  # type: ignore[call-overload]
        return first, behind

    def _key_as(self, name: str, kind: pa.DataType) -> pa.Array:
        """A key column in the type that the states have."""
        column = contiguous(self.table[name])
        alike = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        if column.type == kind or not len(column):
            return column if column.type == kind else pa.nulls(0, kind)
        if any(each(column.type) and each(kind) for each in alike):
            try:
                return column.cast(kind)
            except pa.ArrowInvalid as wrong:
                raise DefinitionError(
                    f"given: {name} of {self.named} does not fit the key {name}, which is {kind}: {wrong}"
                ) from wrong
        raise DefinitionError(
            f"given: {name} is {column.type} in {self.named}, and the key {name} is {kind}: no span would "
            "meet a key; "
            f'say the type in the source of one of them, as types={{"{name}": "VARCHAR"}}'
        )


def given_spans(table: pa.Table, keys: Sequence[str], named: str = "") -> GivenSpans:
    """Spans from a table with the columns of `GivenSpans.table`, in any order."""
    attributes = [name for name in table.column_names if name not in (*keys, START, END)]
    table = table.select([*keys, START, END, *attributes]).replace_schema_metadata()
    times = [_instants(table[name]) for name in (START, END)]
    own, more = ([codes_of(table, [name]) for name in names] for names in (keys, attributes))
    order = sorted_order(*own, *times, *more)
    return GivenSpans(table.take(pa.array(order)).combine_chunks(), tuple(keys), named)


def no_spans(keys: Sequence[str], columns: Sequence[str]) -> GivenSpans:
    """A table without spans."""
    kinds = {
        **dict.fromkeys(keys, pa.null()),
        START: INSTANT,
        END: INSTANT,
        **dict.fromkeys(columns, pa.null()),
    }
    return GivenSpans(pa.schema(kinds).empty_table(), tuple(keys))


def repeated_rows(spans: GivenSpans) -> Ints:
    """The numbers of the spans that are like the span before them in all columns."""
    alike = (spans.start[1:] == spans.start[:-1]) & (spans.end[1:] == spans.end[:-1])
    rows = np.flatnonzero(alike) + 1
    codes = codes_of(spans.table.take(pa.array(np.append(rows - 1, rows))), spans.table.column_names)
    return rows[codes[: len(rows)] == codes[len(rows) :]]


def _instants(column: pa.ChunkedArray) -> Ints:
    return contiguous(column.cast(INSTANT)).view(pa.int64()).to_numpy(zero_copy_only=False)
