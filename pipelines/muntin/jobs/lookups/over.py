"""Over: the aggregates of any range of time, for any of the keys, out of the states of frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.definition.checks import listed
from muntin.definition.frame_sets import FrameSet
from muntin.definition.pipeline import Pipeline
from muntin.definition.spelling import did_you_mean
from muntin.engine.ranges import NUMBER, Ranges, combined_ranges, placed
from muntin.errors import DefinitionError, SourceError
from muntin.files.paths import AnyPath
from muntin.jobs.inspect.selection import Selection
from muntin.jobs.lookups.asked_ranges import asked_ranges, frames_of_ranges
from muntin.jobs.lookups.range_states import check_current, states_of_ranges
from muntin.jobs.published.lost_commits import check_no_lost_commits
from muntin.jobs.schema_check.derive_expressions import derived_of_ranges
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.state_folders import bind_existing
from muntin.states.keys import codes_of, contiguous, odd_floats
from muntin.states.order import sorted_order, take_rows


def over(
    pipeline: Pipeline,
    start: datetime | Any,  # noqa: ANN401 - or any table that speaks Arrow
    end: datetime | None = None,
    *,
    root: str | AnyPath,
    by: Sequence[str] | None = None,
    keys: Mapping[str, Any] | None = None,
) -> pa.Table:
    """The aggregates of the rows from `start` up to `end`, or of many ranges at once, grouped by some of the
    keys.

    All rows count that are in the state, whichever window they were late for, and whether their batch is
    published, waits behind a missing interval, or was only read. So a range differs from a published window
    over the same time by its late rows.

    Args:
        pipeline: the definition.
        start: the beginning of the range, an aware datetime; or a table of ranges with the columns start and
            end, instants with a time zone, that speaks Arrow (pyarrow, pandas, Polars, DuckDB): over(flights,
            ranges, root="state").
        end: the end of the range, which does not belong to it; left out with a table.
        root: folder that state lives below.
        by: the key columns to group by; all of them unless given. []: one row for each range, also where no
            row lies in it.
        keys: only rows of these keys: key column -> a value or a list of values; None is null. Only their row
            groups are read.

    Returns:
        the columns `by`, window_start, window_end (timestamp us UTC), the aggregates and what is derived of
        them, in the order of the definition; a derived column that reads a key or a column of a kind that is
        not there is left out. Ranges in the order of the table, each sorted by its groups; a group without
        rows in a range has no row.

    Raises:
        DefinitionError: a border of a range lies inside of a frame, there is no such key, a table is not one
            of ranges, or an aggregate says carry=.
        StateError: nothing was read under this definition, it is superseded, or states of a range are gone,
            as `retain` says.
    """
    _check_nothing_lasts(pipeline)
    ranges = asked_ranges(start, end)
    groups = _groups(pipeline, by)
    Selection(keys=keys).check((), pipeline.keys)
    bound = bind_existing(pipeline, root)
    check_current(bound)
    check_no_lost_commits(bound)
    tables = [
        _of_frames(bound, frames, ranges, some, groups, keys)
        for frames, some in frames_of_ranges(pipeline, bound.frame_sets, ranges)
    ]
    table = pa.concat_tables(tables).combine_chunks()
    codes = codes_of(table, groups)
    table = take_rows(table, sorted_order(contiguous(table[NUMBER]).to_numpy(), codes))
    return derived_of_ranges(bound, table.drop_columns([NUMBER]))


def _check_nothing_lasts(pipeline: Pipeline) -> None:
    """Refuse aggregates that take values from before a range: which came in time for it no batch says."""
    for name, each in pipeline.row_aggregates.items():
        if each.carry:
            raise DefinitionError(
                f"over: aggregates[{name!r}] has values from before a window (carry=), and a range has its"
                " own rows alone; define windows of the ranges that you ask for and read these, or ask a"
                " pipeline whose aggregates have no carry"
            )


def _groups(pipeline: Pipeline, by: Sequence[str] | None) -> list[str]:
    asked = dict.fromkeys(pipeline.keys if by is None else listed("by", by))
    for name in asked:
        if name not in pipeline.keys:
            there = f"there are {', '.join(pipeline.keys)}" if pipeline.keys else "this pipeline has none"
            raise DefinitionError(
                f"by: there is no key column {name!r}; {there}{did_you_mean(name, pipeline.keys)}"
            )
    return [*asked]


def _of_frames(
    bound: Bound,
    frames: FrameSet,
    ranges: Ranges,
    some: np.ndarray,
    by: Sequence[str],
    keys: Mapping[str, Any] | None,
) -> pa.Table:
    """The results of some ranges, by number, with the column `NUMBER`."""
    mine, names = ranges.take(some), bound.pipeline.keys
    whole = set(by) == set(names)  # then no two shards have states of one group
    tables = [
        _of_states(bound, states, mine, by)
        for states in states_of_ranges(bound, frames, mine, keys, divided=whole)
    ]
    table = pa.concat_tables(tables)
    number = some[table[NUMBER].to_numpy()]
    return table.set_column(table.column_names.index(NUMBER), NUMBER, pa.array(number))


def _of_states(bound: Bound, states: pa.Table, ranges: Ranges, by: Sequence[str]) -> pa.Table:
    """The results of some states, with the column `NUMBER`."""
    states_in_ranges = placed(states, bound.pipeline.keys, by, ranges)
    columns = [column for field in bound.fields for column in field.columns]
    if (
        len(ranges) > 1
        and all(field.regroups(states.schema) for field in bound.fields)
        and not odd_floats(states, columns).any()
    ):
        with suppress(SourceError):  # a sum of a piece leaves its type: that of a range may not
            states_in_ranges = states_in_ranges.combined(bound.fields)
    return combined_ranges(states_in_ranges, by, ranges, bound.aggregates)
