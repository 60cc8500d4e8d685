"""The ranges that `over` is asked for: two instants, or a table of them; and the frames whose borders they
meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.frame_sets import FrameSet
from muntin.definition.instants import instant_us, spell_instant
from muntin.definition.pipeline import Pipeline
from muntin.engine.ranges import Ranges
from muntin.errors import DefinitionError
from muntin.states.columns import INSTANT
from muntin.states.frames import Ints, frame_numbers, frame_starts


def asked_ranges(start: Any, end: Any) -> Ranges:  # noqa: ANN401 - a datetime or a table
    """The ranges of two instants, or of a table with the columns start and end."""
    if hasattr(start, "__arrow_c_stream__"):
        if end is not None:
            raise DefinitionError("over: the table of ranges has their ends, so leave end= out")
        table = pa.table(start)
        ranges = Ranges(*(_column(table, name) for name in ("start", "end")))
    else:
        if end is None:
            raise DefinitionError(
                "over: there is no end; give over(pipeline, start, end, ...), or a table with the columns"
                " start and end"
            )
        ranges = Ranges(
            *(np.array([instant_us(each, name)], np.int64) for each, name in ((start, "start"), (end, "end")))
        )
    wrong = np.flatnonzero(ranges.low >= ranges.high)
    if len(wrong):
        low, high = (spell_instant(int(each[wrong[0]])) for each in (ranges.low, ranges.high))
        raise DefinitionError(
            f"over: {place(ranges, int(wrong[0]))}start {low} is not before end {high}; no time lies between"
        )
    return ranges


def place(ranges: Ranges, at: int) -> str:
    """The number of a range among several, for the beginning of a sentence; "" where
    there is a single range.
    """
    return f"range {at} (from 0): " if len(ranges) > 1 else ""


def _column(table: pa.Table, name: str) -> Ints:
    """A column of instants as microseconds; it needs a time zone, no nulls, and no parts of a microsecond."""
    if name not in table.column_names:
        raise DefinitionError(
            f"over: the table of ranges has no column {name!r}; it has"
            f" {', '.join(table.column_names) or 'none'}"
        )
    column = table[name]
    if not pa.types.is_timestamp(column.type) or column.type.tz is None:
        raise DefinitionError(
            f"over: {name} is {column.type}; it must be instants: timestamps with a time zone"
        )
    if column.null_count:
        at = pc.index(column.is_null(), value=True).as_py()
        raise DefinitionError(f"over: {name} is null in row {at} (from 0) of the ranges; leave that row out")
    try:
        return column.cast(INSTANT).combine_chunks().view(pa.int64()).to_numpy()  # type: ignore[no-any-return]
    except pa.ArrowInvalid as wrong:
        raise DefinitionError(f"over: {name} has instants that are no whole microseconds: {wrong}") from wrong


def frames_of_ranges(
    pipeline: Pipeline, frame_sets: Sequence[FrameSet], ranges: Ranges
) -> list[tuple[FrameSet, Ints]]:
    """For each range the coarsest set of frames that has both of its borders: sets, each with the numbers of
    its ranges.

    An error if no set has both borders of a range.
    """
    sets = sorted(
        (each for each in frame_sets if not each.by_arrival and not each.run_us),
        key=lambda each: each.width_us / len(each.cuts_us),
    )
    if not sets:
        raise DefinitionError(
            f"over: {pipeline.name} keeps no frames that have borders: its states are runs of events of"
            ' sessions, or rows in the order of arrival. Add a window on a grid, as "hour":'
            ' windows.tumbling("1h"), and read the batches again: muntin run --rebuild FILE'
        )
    if not len(ranges):
        return [(sets[-1], np.arange(0))]
    chosen = np.full(len(ranges), -1)
    for at, frames in enumerate(sets):
        chosen[_meets(frames, ranges.low) & _meets(frames, ranges.high)] = at
    if len(wrong := np.flatnonzero(chosen < 0)):
        raise DefinitionError(
            f"over: {place(ranges, int(wrong[0]))}{_misfit(sets[0], ranges.take(wrong[:1]))}"
        )
    return [
        (frames, numbers) for at, frames in enumerate(sets) if len(numbers := np.flatnonzero(chosen == at))
    ]


def _meets(frames: FrameSet, us: Ints) -> np.ndarray:
    return frame_starts(frame_numbers(us, frames.cycle), frames.cycle) == us


def _misfit(frames: FrameSet, asked: Ranges) -> str:
    """The frame borders next to the borders of a range that lie inside of a finest frame."""
    texts = []
    for name, us in (("start", asked.low), ("end", asked.high)):
        if not _meets(frames, us)[0]:
            number = frame_numbers(us, frames.cycle)
            before, behind = (
                spell_instant(int(frame_starts(number + step, frames.cycle)[0])) for step in (0, 1)
            )
            texts.append(
                f"{name} {spell_instant(int(us[0]))} lies inside of a frame; the nearest borders are {before}"
                f" and {behind}"
            )
    names = ", ".join(map(repr, frames.windows))
    return f"{'; '.join(texts)} (the finest frames that there are, those of {names}; states cannot be cut)"
