"""From a table of states to a table of windows: the kind assigns, monoids reduce, aggregates finish."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from muntin.definition.kinds import Bounded
from muntin.engine.assignment import Assignment
from muntin.engine.past import Past, exploded, nothing_before
from muntin.engine.protocols import Aggregate, Assigner, Closing, Field
from muntin.states.columns import FIRST_EVENT, INSTANT, LAST_EVENT, STATE_PREFIX
from muntin.states.frames import NO_INTS, Flags, Frames, Ints, is_among, run_starts
from muntin.states.keys import contiguous
from muntin.states.sorted import Arranged, some_of

_ByMemory = dict[Hashable, tuple[Mapping[str, pa.Array], list[pa.Array]]]
"""Monoid and memory of parts -> the parts, which so stay where they are, and what they were reduced to."""


@dataclass(frozen=True, slots=True)
class Combined:
    """The wanted windows, and the states they are made of.

    Attributes:
        windows: key columns, window_start, window_end, the kind's columns, and the aggregates; a row a
            window.
        closed: for each row of `windows`, the position of the batch that closes it; the number of batches if
            it is open.
        states, frames: the states, and the same as frames, in one order.
        assignment: of the wanted windows.
        candidates, candidates_closed, candidates_final: the assignment of all windows, the batch that closes
            each, and the last batch whose rows count in it.
        past: what came before the windows.
        correcting: for each state, whether it revises a window that an earlier batch had closed, and misses
            none; None: no window is revised.
        shown: for each row of `windows`, whether it is published; None: all are.
    """

    windows: pa.Table
    closed: Ints
    states: pa.Table
    frames: Frames
    assignment: Assignment
    candidates: Assignment
    candidates_closed: Ints
    candidates_final: Ints
    past: Past
    correcting: Flags | None = None
    shown: np.ndarray | None = None

    def published(self) -> tuple[pa.Table, Ints]:
        """`windows` and `closed` without what is hidden."""
        if self.shown is None:
            return self.windows, self.closed
        return self.windows.filter(pa.array(self.shown)), self.closed[self.shown]


def combine_arranged(
    arranged: Arranged,
    *,
    window: Assigner,
    when: Closing,
    keys: Sequence[str],
    aggregates: Mapping[str, Aggregate],
    wanted: Ints | None = None,
    keep_states: bool = False,
) -> Combined:
    """The windows over some states that one of the `wanted` batches closes.

    `arranged`: the states. `window`: the kind. `when`: the rule by which windows close. `keys`: names of the
    key columns. `aggregates`: result column -> aggregate. `wanted`: positions of batches, ascending; one past
    the last stands for open windows. None: all windows. `keep_states`: whether windows also have the columns
    of their fields.
    """
    states, frames = arranged.states, arranged.frames
    candidates = _candidates(window.for_keys(lambda: _keys(states, frames, keys)), frames, when, wanted)
    candidates_closed, candidates_final = _closings(candidates, when)
    correcting = _correcting(window, arranged, when, candidates, candidates_closed, keys)
    past = Past(states, frames, candidates_final, window.outside_us)
    if not bool(np.all(there := past.held(candidates, aggregates))):
        candidates, candidates_closed = candidates.only(there), candidates_closed[there]
        candidates_final = candidates_final[there]
    assignment, closed, final = candidates, candidates_closed, candidates_final
    if wanted is not None and not bool(np.all(chosen := is_among(closed, wanted))):
        assignment, closed, final = candidates.only(chosen), closed[chosen], final[chosen]
    past = Past(states, frames, final, window.outside_us)
    heads = _heads(frames, assignment)
    columns = {key: states[key].combine_chunks().take(heads) for key in keys}
    columns["window_start"] = pa.array(assignment.start).view(INSTANT)
    columns["window_end"] = pa.array(assignment.end).view(INSTANT)
    zeros = np.zeros(len(assignment.lo), np.int64)  # where `exploded` will fill a column in
    columns |= {
        name: pa.array(assignment.more.get(name, zeros), kind or None)
        for name, kind in window.columns.items()
    }
    columns |= results(
        states,
        assignment,
        aggregates,
        keep_states=keep_states,
        past=past,
    )
    windows = pa.table(columns)
    if window.rows_out:
        windows, closed = exploded(windows, closed)
    return Combined(
        windows,
        closed,
        states,
        frames,
        assignment,
        candidates,
        candidates_closed,
        candidates_final,
        past,
        correcting,
    )


def _correcting(
    window: Assigner,
    arranged: Arranged,
    when: Closing,
    candidates: Assignment,
    closed: Ints,
    keys: Sequence[str],
) -> Flags | None:
    """`correcting` of `Combined`. Where other rows do not decide which windows hold a state, it revises the
    windows that it would miss without lateness.
    """
    if when.final is when.floor:
        return None
    frames = arranged.frames
    revises = np.zeros(len(frames), np.bool_)
    if isinstance(window.follows, Bounded):
        rows = np.flatnonzero(frames.start - window.inside_us <= when.floor[frames.batch])
        some = some_of(arranged, rows)
        own = window.for_keys(lambda: _keys(some.states, some.frames, keys))
        revises[rows] = own.assign(some.frames, when.floor).missed > 0
    else:
        from muntin.engine.repeats import consecutive

        counts = candidates.hi - candidates.lo
        members = candidates.order[consecutive(candidates.lo, counts)]
        revises[members] = np.repeat(closed, counts) < frames.batch[members]
    return revises & (candidates.missed == 0)


def _closings(windows: Assignment, when: Closing) -> tuple[Ints, Ints]:
    """The batch that closes each window, and the last batch whose rows count in it."""
    if windows.closed is None:
        return when.batch_of(windows.end), when.final_of(windows.end)
    return windows.closed, windows.closed if windows.final is None else windows.final


def _keys(states: pa.Table, frames: Frames, keys: Sequence[str]) -> pa.Table:
    """The key columns, a row for each group of the frames."""
    heads = np.flatnonzero(run_starts(frames.group))
    return pa.table(
        {key: states[key].combine_chunks().take(pa.array(heads)) for key in keys} or {"group": heads}
    )


def _candidates(window: Assigner, frames: Frames, when: Closing, wanted: Ints | None) -> Assignment:
    """The windows that the wanted batches close, and perhaps more."""
    floor, final = when.floor, when.final
    if wanted is None or not len(wanted) or int(wanted[-1]) + 1 >= len(floor):
        return window.assign(frames, final)
    return window.assign_between(frames, final, int(floor[wanted[0]]), int(floor[wanted[-1] + 1]))


def still_open(
    combined: Combined, position: int, settled_us: int | None = None, fields: Sequence[Field] = ()
) -> pa.Table:
    """The states of windows that were open after a batch, for kinds whose windows share no state.

    `combined`: the windows. `position`: of the batch. `settled_us`: the states of a window before this
    instant are combined to one state; None: every state stays, also of windows in which later rows counted.
    `fields`: of the states.
    """
    rows, window = combined.candidates.order, combined.candidates.block
    last = combined.candidates_final if settled_us is None else combined.candidates_closed
    open_then = (combined.frames.batch[rows] <= position) & (last[window] > position)
    rows, window = rows[open_then], window[open_then]
    if settled_us is None or not (old := combined.frames.start[rows] < settled_us).any():
        return combined.states.take(pa.array(rows))
    return pa.concat_tables(
        [_settled(combined, rows[old], window[old], fields), combined.states.take(pa.array(rows[~old]))]
    )


def _settled(combined: Combined, rows: Ints, window: Ints, fields: Sequence[Field]) -> pa.Table:
    """One state per window: the combination of the given rows, which are the first rows of their windows."""
    states = combined.states
    heads = np.flatnonzero(run_starts(window))
    first = states.take(pa.array(rows[heads]))
    columns = {name: first[name] for name in states.column_names} | combined_fields(
        states, rows, heads, fields
    )
    for name, extreme, times in (
        (FIRST_EVENT, np.minimum, combined.frames.first),
        (LAST_EVENT, np.maximum, combined.frames.last),
    ):
        columns[name] = pa.array(extreme.reduceat(times[rows], heads)).view(INSTANT)
    return pa.table({name: columns[name] for name in states.column_names}).cast(states.schema)


def _heads(frames: Frames, assignment: Assignment) -> pa.Array:
    """A row of each window's group; windows of a group mostly lie together."""
    begins = np.flatnonzero(run_starts(assignment.group))
    places = np.searchsorted(frames.group, assignment.group[begins])
    return pa.array(np.repeat(places, np.diff(begins, append=len(assignment.group))))


def combined_fields(
    states: pa.Table, order: Ints, heads: Ints, fields: Sequence[Field]
) -> dict[str, pa.Array]:
    """The columns of fields, combined over the runs of `order` that begin at `heads`."""
    run = np.repeat(np.arange(len(heads)), np.diff(heads, append=len(order)))
    no_pairs, tails = NO_INTS, np.append(heads[1:], len(order))[: len(heads)]
    runs = Assignment(order, run, heads, heads, heads, heads, heads, tails, no_pairs, no_pairs, order)
    return {
        column: part
        for field in fields
        for column, part in zip(field.columns, _reduced(states, runs, field, {}), strict=True)
    }


def results(
    states: pa.Table,
    assignment: Assignment,
    aggregates: Mapping[str, Aggregate],
    *,
    keep_states: bool = False,
    past: Past | None = None,
) -> dict[str, pa.Array]:
    """The aggregates of each window. A field of several aggregates is reduced once, and so are fields over
    the same memory.

    `states`, `assignment`, `aggregates`: the windows over the states, and their aggregates. `keep_states`:
    whether the columns of the fields follow, with `STATE_PREFIX` before their names. `past`: what came before
    the windows; None: nothing did.
    """
    reduced: dict[str, list[pa.Array]] = {}
    states_of_windows: dict[str, pa.Array] = {}
    by_memory: _ByMemory = {}
    for aggregate in aggregates.values():
        for field in aggregate.fields:
            if field.stem not in reduced:
                reduced[field.stem] = _reduced(states, assignment, field, by_memory)
                states_of_windows |= {
                    STATE_PREFIX + column: part
                    for column, part in zip(field.columns, reduced[field.stem], strict=True)
                }
    bounds = [pa.array(instants).view(INSTANT) for instants in (assignment.start, assignment.end)]
    finished = {}
    for name, aggregate in aggregates.items():
        columns = [column for field in aggregate.fields for column in reduced[field.stem]]
        columns += bounds if aggregate.uses_window else ()
        if aggregate.carry:
            count = len(assignment.lo)
            before = (
                past.before(assignment, aggregate, aggregate.carry)
                if past
                else nothing_before(states, count, aggregate, aggregate.carry)
            )
            columns += before
        finished[name] = aggregate.finish(*columns)
    return finished | (states_of_windows if keep_states else {})


def _reduced(states: pa.Table, assignment: Assignment, field: Field, by_memory: _ByMemory) -> list[pa.Array]:
    """The columns of a field, a value a window. `by_memory`: what was reduced; it grows."""
    if not len(assignment.lo):  # all windows are open: nothing is put in order for none
        states = states.slice(0, 0)
        assignment = replace(assignment, order=assignment.order[:0], block=assignment.block[:0])
    parts = {
        part: contiguous(states[column]) for part, column in zip(field.names, field.columns, strict=True)
    }
    same = (id(field.monoid), *((name, _memory(part)) for name, part in parts.items()))
    if same not in by_memory:
        by_memory[same] = parts, list(field.monoid.reduce(parts, assignment).values())
    return by_memory[same][1]


def _memory(part: pa.Array) -> Hashable:
    """The address of the values of a numeric part: columns that are 1 in each row are one array."""
    if not pa.types.is_primitive(part.type):
        return id(part)
    return (
        part.type,
        part.offset,
        len(part),
        tuple(-1 if buffer is None else buffer.address for buffer in part.buffers()),
    )
