"""The SQL that lifts accepted rows into one partial state per key and frame."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from muntin.sources.reading.lift_sql import lifts_sql
from muntin.sources.reading.refused_rows import EARLIEST
from muntin.sources.reading.row_times import is_event_time
from muntin.sources.reading.scan import aliased, quoted
from muntin.sources.sessions.row_expressions import guarded
from muntin.states.columns import (
    ARRIVAL_TIME,
    EVENT_TIME,
    FILE_NUMBER,
    FIRST_EVENT,
    FRAME,
    LAST_EVENT,
    ODD,
    ORDER,
    ORDINAL,
    ROW_IN_SPLIT,
    SOURCE_ROWS,
)
from muntin.states.derived_columns import footer_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.aggregates.aggregate import Field
    from muntin.definition.frame_sets import FrameSet
    from muntin.definition.pipeline import Pipeline
    from muntin.sources.reading.refused_rows import Taken
    from muntin.sources.source import Columns


def frame_start(frames: FrameSet) -> str:
    """SQL for the start of the frame that holds a row, before 1970 too: counted from a border before the year
    1.
    """
    width, (first, *others) = frames.width_us, frames.cuts_us
    if width == 1:
        return EVENT_TIME
    shift = -(EARLIEST // width - 1) * width - first
    start = f"(({EVENT_TIME} + {shift}) // {width} * {width} - {shift})"
    if not others:
        return start
    later = " ".join(
        f"WHEN ({EVENT_TIME} + {shift}) % {width} >= {cut - first} THEN {cut - first}"
        for cut in reversed(others)
    )
    return f"({start} + CASE {later} ELSE 0 END)"


def _key(name: str, kind: str) -> str:
    """A key as SQL; of floats all zeros are one key, and all NaNs."""
    column = f"{SOURCE_ROWS}.{quoted(name)}"  # DuckDB takes a bare "user" in a subquery for its function
    return (
        f"CASE WHEN isnan({column}) THEN 'nan'::{kind} ELSE {column} + 0 END"
        if kind in ("FLOAT", "DOUBLE")
        else column
    )


def states(
    pipeline: Pipeline,
    fields: Sequence[Field],
    frames: FrameSet,
    rows: str,
    times: Taken,
    columns: Columns,
    *,
    also: Sequence[str] = (),
) -> str:
    """The states, a row per key and frame: the keys, the frame's start in microseconds, and the fields'
    columns.

    Of frames by arrival one row per row of the source, with its time and its place in the split, `ORDINAL`.
    `rows` have the source's columns and `EVENT_TIME`; `also`: more columns of `rows` that tell states apart.
    """
    if frames.by_arrival:
        rows = f"(SELECT * REPLACE (0::BIGINT AS {ORDER}) FROM {rows})"
    keys = _keys(pipeline, columns)
    times_of = {FIRST_EVENT: "min", LAST_EVENT: "max"} if frames.event_times else {}
    ends = [
        f"{extreme}({EVENT_TIME}) AS {name}" for name, extreme in times_of.items() if name not in frames.lifts
    ]
    lifts: dict[str, str] = {**frames.lifts}
    for field in fields:
        lifts |= lifts_sql(field, guarded)
    each = [f"{frame_start(frames)} AS {FRAME}"]
    if frames.by_arrival or any(each.is_state for each in fields):
        each.append(ORDINAL)
    each += also
    of_arrival = _of_arrival(pipeline) if frames.by_arrival else []
    clock = [f"any_value({column}) AS {column}" for column in of_arrival]
    chosen = ", ".join([*keys, *each, *ends, *clock, *([aliased(lifts)] if lifts else [])])
    groups = ", ".join(str(at + 1) for at in range(len(keys) + len(each)))
    return (
        f"SELECT {chosen} FROM {rows} AS {SOURCE_ROWS} WHERE {_condition(pipeline, times)} GROUP BY {groups}"
    )


class RowStates(NamedTuple):
    """States that are rows, as files hold them.

    Attributes:
        query: SQL for the columns that are held.
        kinds: column -> SQL type.
        footer: how the other columns follow from these, as `states.derived_columns.footer_for` gives it.
    """

    query: str
    kinds: Columns
    footer: Mapping[bytes, bytes]


def rows_as_states(
    pipeline: Pipeline,
    fields: Sequence[Field],
    frames: FrameSet,
    rows: str,
    times: Taken,
    columns: Columns,
    types: tuple[Columns, Columns],
    *,
    also: Sequence[str] = (),
) -> RowStates | None:
    """`states` of frames by arrival without groups, each value once, in row order; None if a lift cannot be
    computed from one row.

    Arguments as for `states`; `types`: column -> the SQL type that `states` has, and the stored type.
    """
    natural, kinds = types
    lifts = {**frames.lifts, **{column: lift for each in fields for column, lift in each.lifts.items()}}
    if not frames.by_arrival or any(each.seal or each.is_state for each in fields):
        return None
    from muntin.sources.reading.values_once import values_once

    of_frame = partial(is_event_time, pipeline.origin.event_time, columns)
    if (once := values_once(lifts, natural, kinds, of_frame)) is None:
        return None
    parts, follows = once
    rows = f"(SELECT * REPLACE (0::BIGINT AS {ORDER}) FROM {rows})"
    lone = [f"{frame_start(frames)} AS {FRAME}", ORDINAL, *also, *_of_arrival(pipeline)]
    held = [aliased(parts)] if parts else []
    chosen = ", ".join([*_keys(pipeline, columns), *lone, *held])
    query = f"SELECT {chosen} FROM {rows} AS {SOURCE_ROWS} WHERE {_condition(pipeline, times)}"
    return RowStates(
        query,
        {column: kind for column, kind in kinds.items() if column in parts or column not in lifts},
        footer_for(follows),
    )


def key_columns(pipeline: Pipeline, columns: Columns) -> dict[str, str]:
    """Key -> SQL for it. `columns`: name -> SQL type of the source's columns."""
    return {key: _key(key, columns.get(key, "")) for key in pipeline.keys}


def _keys(pipeline: Pipeline, columns: Columns) -> list[str]:
    return [aliased({key: sql}) for key, sql in key_columns(pipeline, columns).items()]


def accepted_rows(
    pipeline: Pipeline,
    rows: str,
    times: Taken,
    columns: Columns,
    chosen: Columns,
    keys: Columns,
) -> str:
    """SQL for the accepted rows that are not left out, in order: the keys, and what is chosen of
    `SOURCE_ROWS`.

    Arguments as for `states`; `keys`: key -> the SQL type that it is cast to.
    """
    cast = {key: f"({_key(key, columns.get(key, ''))})::{kind}" for key, kind in keys.items()}
    return (
        f"SELECT {aliased({**cast, **chosen})} FROM {rows} AS {SOURCE_ROWS} WHERE"
        f" {_condition(pipeline, times)}"
    )


def _of_arrival(pipeline: Pipeline) -> list[str]:
    """The columns of arrival in a state that is a row."""
    number_column = FILE_NUMBER if pipeline.origin.section else ROW_IN_SPLIT
    return [*([ARRIVAL_TIME] if pipeline.origin.arrival_time else []), number_column]


def _condition(pipeline: Pipeline, times: Taken) -> str:
    """SQL for the rows that are accepted and not left out."""
    conditions = [f"({pipeline.where})"] if pipeline.where else []
    return " AND ".join(
        [times.condition, *conditions, *([f"NOT {times.forgotten}"] if times.forgotten else [])]
    )


def tally(rows: str, times: Taken, *, local: bool, also: Sequence[str] = ()) -> str:
    """How many rows there are, how many are accepted, the largest and the least accepted event time, and how
    many have odd local times.

    Arguments as for `states`; `local`: whether the rows have `ODD`: times that come twice are counted, and
    times that never were.
    """
    filter_clause = f"FILTER (WHERE {times.condition})"
    odd = [f"count(*) FILTER (WHERE {ODD} = {sign})" if local else "0" for sign in (1, -1)]
    chosen = ", ".join(
        [
            *also,
            "count(*)",
            f"count(*) {filter_clause}",
            f"max({EVENT_TIME}) {filter_clause}",
            f"min({EVENT_TIME}) {filter_clause}",
            *odd,
        ]
    )
    return f"SELECT {chosen} FROM {rows}" + (f" GROUP BY {', '.join(also)}" if also else "")
