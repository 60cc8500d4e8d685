"""Sliding windows by arrival: eviction and trigger, nine pairs."""

from __future__ import annotations

import numpy as np

from muntin.engine.arrival import reading
from muntin.engine.arrival.fired import Fired
from muntin.engine.arrival.rules import Measure, Rules
from muntin.engine.arrival.sliding_kernel import (
    LATEST,
    NOTED,
    TOTAL,
    Measured,
    SlidingRows,
    SlidingRules,
    slid,
)
from muntin.engine.assignment import Held
from muntin.engine.repeats import repeated
from muntin.states.frames import Frames, Ints, run_numbers


def slide(rules: Rules, frames: Frames) -> Fired:
    """The windows that fire, and what is open at the end."""
    rows, trigger = reading.arrived_rows(frames), rules.trigger or Measure()
    value, value_valid, difference = reading.compared(rules.evict, frames)
    signal, signal_valid, step = reading.compared(trigger, frames)
    clock = reading.clocked(frames)
    walked = SlidingRows(
        frames.group,
        frames.batch,
        clock,
        value,
        value_valid,
        signal,
        signal_valid,
        rows.held,
        *reading.drops(rules, frames),
    )
    measured = SlidingRules(
        _measured(rules.evict, difference),
        _measured(trigger, step),
        rows.origin,
        rules.incomplete,
        rules.age_us or LATEST,
    )
    bases = rows.bases.astype(signal.dtype)  # a copy
    windows, notes, noted_bases, evicted_by = slid(
        walked, measured, rows.ends, rows.noted_after, reading.counters(frames, NOTED), bases
    )
    group, index, lo, hi, closed, count = np.ascontiguousarray(
        windows.T
    )  # a kernel is compiled for each layout
    block, none = _blocks(rules.evict, frames, clock, (value, difference)), np.zeros(len(windows), np.int64)
    listed = _listed(np.flatnonzero(count < hi - lo), lo, hi, evicted_by)
    held = _listed(np.arange(len(notes)), notes[:, -2], notes[:, -1], evicted_by)
    counters = notes[:, 2:-2]
    counters[:, TOTAL] %= (
        rules.evict.rows or 1
    )  # blocks begin at multiples of it, and nothing else asks for it
    note = Held(notes[:, 0], notes[:, 1], counters, noted_bases, held[:, 0], held[:, 1])
    return Fired(group, index, lo, hi, closed, none, none, listed, block, note)


def _listed(chosen: Ints, lo: Ints, hi: Ints, evicted_by: Ints) -> np.ndarray:
    """(stretch, row) of the chosen stretches `[lo, hi)`: the rows that none before hi made leave."""
    stretch, within = repeated(chosen, hi[chosen] - lo[chosen])
    row = lo[stretch] + within
    pairs = np.column_stack((stretch, row))
    return pairs[evicted_by[row] >= hi[stretch]] if len(evicted_by) else pairs


def _measured(measure: Measure, difference: float) -> Measured:
    """`difference` in the type of the values."""
    return Measured(
        measure.rows, measure.time_us, measure.difference is not None, difference, measure.absolute
    )


def _blocks(evict: Measure, frames: Frames, clock: Ints, compared: tuple[np.ndarray, float]) -> Ints:
    """The block of each row, on multiples of the window's length: a window that lost old rows spans two."""
    if evict.rows:
        return (np.arange(len(frames)) + _behind(frames)[frames.group]) // evict.rows
    if evict.time_us:
        return clock // evict.time_us
    value, difference = compared
    with np.errstate(invalid="ignore"):
        cut = np.floor_divide(value, difference) if difference else value
    return run_numbers(np.nan_to_num(cut))


def _behind(frames: Frames) -> Ints:
    """For each partition: how many rows came to it, less the place of a row in the frames."""
    group, rows = frames.group, reading.arrived_rows(frames)
    groups = len(rows.counters)
    carried = np.bincount(group[rows.held], minlength=groups)
    return reading.counters(frames, NOTED)[:, TOTAL] - carried - np.searchsorted(group, np.arange(groups))
