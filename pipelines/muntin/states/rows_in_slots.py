"""Rows become states in slots: each row is added to the slot of its key and frame as it comes. No row is
sorted.

A column of states that are lists of numbers: rows are kept as they come, and put together by state at the
end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self, cast

import numpy as np
import pyarrow as pa

from muntin.definition.expressions import LISTS, What
from muntin.states.columns import FRAME
from muntin.states.derived_columns import Extent
from muntin.states.frames import Ints
from muntin.states.keys import DistinctValues, KeyDictionary, numbered_keys
from muntin.states.listed_slots import AtExtreme, empty_lists, widened_slots
from muntin.states.slot_tables import Layout, Lifted, RowsAtHand, SlotColumn

_NEVER = {"first": np.iinfo(np.int64).max, "last": np.iinfo(np.int64).min}


@dataclass(slots=True)
class Column:
    """The slots of a column of states.

    Attributes:
        lifted: what fills it.
        slots: int64 or float64.
        some: whether a slot has a value; empty for counts and sums, which are 0 without any.
        time_us: when the row was whose value a slot has; empty but for the first and the last.
        bound: the limit that no sum of integers has passed, so far.
    """

    lifted: Lifted
    slots: np.ndarray
    some: np.ndarray
    time_us: Ints
    bound: float = 0.0

    @property
    def is_finite(self) -> bool:
        return self.lifted.what != "sum" or bool(np.isfinite(self.slots).all())

    def widened(self, frames: int, keys: int) -> None:
        self.slots, self.some = (widened_slots(each, frames, keys, 0) for each in (self.slots, self.some))
        self.time_us = widened_slots(self.time_us, frames, keys, _never(self.lifted.what))

    def take(self, rows: RowsAtHand) -> bool:
        """Add rows; False if a sum of integers may not fit, or a sum of floats is not finite."""
        from muntin.states import slot_kernels as kernels

        what, slot, time_us = self.lifted.what, rows.slot, rows.time_us
        value, valid = rows.numbers(self.lifted.of)
        match what:
            case "count":
                kernels.add_counts(self.slots, slot, value if value.dtype == np.bool_ else valid)
            case "sum":
                if value.dtype == np.int64:
                    self.bound = kernels.sums_fit(value, valid, self.bound)
                elif not np.isfinite(value).all():
                    return False
                kernels.add_sums(self.slots, slot, value, valid)
            case "least":
                kernels.keep_least(self.slots, self.some, slot, value, valid)
            case "greatest":
                kernels.keep_greatest(self.slots, self.some, slot, value, valid)
            case "first" | "first_row":
                kernels.keep_first(
                    self.slots, self.some, self.time_us, slot, time_us, value, valid, what == "first_row"
                )
            case "last" | "last_row":
                kernels.keep_last(
                    self.slots, self.some, self.time_us, slot, time_us, value, valid, what == "last_row"
                )
            case _:
                raise ValueError(
                    "a slot holds what several rows make together: of a value only its text says that, and "
                    "numbers are lists"
                )
        return self.bound < 2**62

    def states(self, counts: Ints, slot: Ints, place: Ints) -> pa.Array:  # noqa: ARG002 - a slot alone says what its state is
        from muntin.states.slot_kernels import moved

        none = ~moved(self.some, slot, place) if len(self.some) else None
        return pa.array(moved(self.slots, slot, place), mask=none)


def empty_columns(
    columns: Mapping[str, Lifted], rows: pa.Schema, frames: int, keys: int, most: int
) -> dict[str, SlotColumn]:
    """Columns without a value, for frames and keys and at `most` so many rows. `rows`: columns of rows."""
    slots = dict[str, "SlotColumn"]()
    for name, lifted in columns.items():
        slots[name] = (
            empty_lists(lifted, rows, frames, keys, slots)
            if lifted.what in LISTS
            else _empty_column(lifted, rows, frames, keys, most)
        )
    return slots


def _empty_column(lifted: Lifted, rows: pa.Schema, frames: int, keys: int, most: int) -> SlotColumn:
    if lifted.what == "numbers":
        return Numbers.empty(lifted, keys, most)
    slots = frames * keys
    if lifted.by:
        return AtExtreme.empty(lifted, rows, slots)
    kind = (
        np.float64
        if lifted.what != "count" and pa.types.is_floating(rows.field(lifted.of).type)
        else np.int64
    )
    some = np.zeros(0 if lifted.what in ("count", "sum") else slots, np.bool_)
    return Column(
        lifted, np.zeros(slots, kind), some, np.full(slots if _never(lifted.what) else 0, _never(lifted.what))
    )


def _never(what: What) -> int:
    """A time that every row's time replaces; 0 where times do not matter."""
    return _NEVER.get(what.removesuffix("_row"), 0)


@dataclass(slots=True)
class Numbers:
    """The numbers of the rows that came so far.

    Attributes:
        lifted: what fills the column.
        slot, value, valid: of each row, int32, float64 and bool, with room for all rows.
        keys: how many slots a frame has.
        came: how many rows came.
    """

    lifted: Lifted
    slot: np.ndarray
    value: np.ndarray
    valid: np.ndarray
    keys: int
    came: int = 0
    is_finite = True  # nothing is added here: a list may hold whatever a row has

    @classmethod
    def empty(cls, lifted: Lifted, keys: int, rows: int) -> Self:
        """Room for so many rows, of frames with so many keys."""
        return cls(lifted, np.empty(rows, np.int32), np.empty(rows), np.empty(rows, np.bool_), keys)

    def widened(self, frames: int, keys: int) -> None:  # noqa: ARG002 - rows need no more room for more frames
        frame, key = np.divmod(self.slot[: self.came], self.keys)
        self.slot[: self.came] = frame * keys + key
        self.keys = keys

    def take(self, rows: RowsAtHand) -> bool:
        value, valid = rows.numbers(self.lifted.of)
        new = slice(self.came, self.came + len(rows.slot))
        self.slot[new], self.value[new], self.valid[new] = rows.slot, value, valid if len(valid) else True
        self.came = new.stop
        return True

    def states(self, counts: Ints, slot: Ints, place: Ints) -> pa.Array:
        from muntin.states.slot_kernels import put_together

        lengths = np.empty(len(slot), np.int64)
        lengths[place] = counts[slot]
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        begin = np.empty(len(counts), np.int64)
        begin[slot] = bounds[place]
        value = np.empty(self.came)
        valid = np.empty(self.came, np.bool_)
        put_together(self.slot[: self.came], self.value, self.valid, begin, value, valid)
        return pa.ListArray.from_arrays(
            pa.array(bounds, pa.int32()), pa.array(value, mask=None if valid.all() else ~valid)
        )


class LiftedStates(NamedTuple):
    """States, and the extent of the rows that they are made of."""

    table: pa.Table
    extent: Extent


class OutgrownError(Exception):
    """Rows came for which a layout, the first argument, is not worth it."""


def rows_in_slots(
    batches: Iterable[pa.RecordBatch],
    keys: Sequence[str],
    time: str,
    columns: Mapping[str, Lifted],
    most: Extent,
    layouts: Sequence[Layout],
) -> LiftedStates | None:
    """States of rows, sorted by (bucket, key, frame).

    None if a sum is not finite or may not fit, there are too many keys, or there is no row, or more than
    `most` says.

    `batches`: the rows in order of arrival, with the key columns, `time` (int64, microseconds), and the
    columns of values. `keys`: names of one to three key columns. `time`: name of the column with event times.
    `columns`: column of a state -> what fills it. `rows` counts all rows. `most`: how many rows are expected
    at most, and between which times. `layouts`: where slots may lie; the first that is not outgrown by the
    first rows is taken.

    Returns key columns, `frame` (int64, microseconds), `columns` (int64 or float64; of "numbers" lists of
    float64; at an extreme as the rows).
    """
    dictionary, layout, shape, table = None, None, (0, 0), dict[str, "SlotColumn"]()
    came, oldest, newest = 0, most.newest, most.oldest
    for batch in filter(len, batches):
        moment = batch[time].to_numpy()
        came = came + len(batch)
        oldest = moment.min(initial=oldest)
        newest = moment.max(initial=newest)
        if came > most.rows or oldest < most.oldest or newest > most.newest:
            return None
        dictionary = (
            KeyDictionary([DistinctValues(pa.array([], batch[key].type)) for key in keys])
            if dictionary is None
            else dictionary
        )
        number = dictionary.numbers([batch[key] for key in keys], len(batch))
        if number is None:
            return None
        layout, slot = _laid_out([layout] if layout else layouts, moment, number, len(dictionary))
        if not table:
            table = empty_columns(columns, batch.schema, *layout.shape, most.rows)
        elif shape != layout.shape:
            for column in table.values():
                column.widened(*layout.shape)
        shape = layout.shape
        rows = RowsAtHand(slot, moment, batch)
        if not all(column.take(rows) for column in table.values()):
            return None
    if dictionary is None or layout is None or not all(column.is_finite for column in table.values()):
        return None
    return LiftedStates(_states(table, dictionary, keys, layout), Extent(came, int(oldest), int(newest)))


def _laid_out(layouts: Sequence[Layout], time_us: Ints, key: Ints, keys: int) -> tuple[Layout, Ints]:
    """The first layout that is not outgrown, and the slot of each row."""
    for layout in layouts:
        if (slot := layout.slots(time_us, key, keys)) is not None:
            return layout, slot
    raise OutgrownError(layouts[-1])


def _states(
    table: Mapping[str, SlotColumn], dictionary: KeyDictionary, keys: Sequence[str], layout: Layout
) -> pa.Table:
    """The states of the slots with rows."""
    columns = dictionary.columns
    counts = cast("Column", table["rows"]).slots
    rank, _ = numbered_keys(columns, len(dictionary))
    filled = layout.filled(counts, rank)
    owner = pa.array(filled.key)
    columns_out: dict[str, pa.Array] = {
        name: column.take(owner) for name, column in zip(keys, columns, strict=True)
    }
    columns_out[FRAME] = pa.array(filled.frame)
    return pa.table(
        columns_out
        | {name: column.states(counts, filled.slot, filled.place) for name, column in table.items()}
    )
