"""The SQL that lifts accepted rows into one partial state per key and frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.sources.lift_sql import lifts_sql
from pipelines.sources.scan import quoted
from pipelines.sources.taken_times import EARLIEST
from pipelines.states.columns import (
    ARRIVAL_TIME,
    EVENT_TIME,
    FILE_NUMBER,
    FIRST_EVENT,
    FRAME,
    LAST_EVENT,
    ORDER,
    ORDINAL,
    ROW_IN_SPLIT,
    SOURCE_ROWS,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.aggregates.aggregate import Field
    from pipelines.definition.frame_sets import FrameSet
    from pipelines.definition.pipeline import Pipeline
    from pipelines.sources.taken_times import Taken


def frame_start(width_us: int) -> str:
    """SQL for the start of the frame that holds a row, before 1970 too: counted from a border before the year 1."""
    shift = -(EARLIEST // width_us) * width_us
    return f"(({EVENT_TIME} + {shift}) // {width_us} * {width_us} - {shift})"


def _key(name: str, kind: str) -> str:
    """A key as SQL; of floats all zeros are one key, and all NaNs."""
    column = quoted(name)
    return f"CASE WHEN isnan({column}) THEN 'nan'::{kind} ELSE {column} + 0 END" if kind in ("FLOAT", "DOUBLE") else column


def states(
    pipeline: Pipeline,
    fields: Sequence[Field],
    frames: FrameSet,
    rows: str,
    times: Taken,
    columns: Mapping[str, str],
    *,
    also: Sequence[str] = (),
) -> str:
    """One row per key and frame: the keys, the frame's start in microseconds, and the fields' columns.

    Of frames by arrival one row per row of the source, and beside its time its place in the split, `ORDINAL`.

    Args:
        pipeline: its keys and filter.
        fields: what is kept of the rows.
        frames: the frame set; says how wide frames are and whether event times are kept.
        rows: the relation with the source's columns and `EVENT_TIME`.
        times: rows with other times are refused.
        columns: name -> SQL type of the source's columns.
        also: more columns of `rows` that tell states apart.
    """
    if frames.by_arrival:
        rows = f"(SELECT * REPLACE (0::BIGINT AS {ORDER}) FROM {rows})"
    keys = [f"{_key(key, columns.get(key, ''))} AS {quoted(key)}" for key in pipeline.keys]
    ends = [f"min({EVENT_TIME}) AS {FIRST_EVENT}", f"max({EVENT_TIME}) AS {LAST_EVENT}"] if frames.event_times else []
    parts = [f"{lift} AS {quoted(column)}" for each in fields for column, lift in lifts_sql(each).items()]
    lifts = [f"{lift} AS {quoted(column)}" for column, lift in frames.lifts.items()]
    each = [f"{frame_start(frames.width_us)} AS {FRAME}"]
    if frames.by_arrival or any(each.is_state for each in fields):
        each.append(ORDINAL)
    each += also
    clock = [f"any_value({ARRIVAL_TIME}) AS {ARRIVAL_TIME}"] if frames.by_arrival and pipeline.origin.arrival_time else []
    if frames.by_arrival:
        told = FILE_NUMBER if pipeline.origin.section else ROW_IN_SPLIT
        clock.append(f"any_value({told}) AS {told}")
    chosen = ", ".join([*keys, *each, *ends, *clock, *lifts, *parts])
    condition = f"{times.condition}" + (f" AND ({pipeline.where})" if pipeline.where else "")
    groups = ", ".join(str(at + 1) for at in range(len(keys) + len(each)))
    return f"SELECT {chosen} FROM {rows} AS {SOURCE_ROWS} WHERE {condition} GROUP BY {groups}"


def tally(rows: str, times: Taken, *, also: Sequence[str] = ()) -> str:
    """How many rows there are, how many are accepted, and the largest accepted event time. Arguments as for `states`."""
    taken = f"FILTER (WHERE {times.condition})"
    chosen = ", ".join([*also, "count(*)", f"count(*) {taken}", f"max({EVENT_TIME}) {taken}"])
    return f"SELECT {chosen} FROM {rows}" + (f" GROUP BY {', '.join(also)}" if also else "")
