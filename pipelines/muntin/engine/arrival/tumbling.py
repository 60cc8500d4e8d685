"""Tumbling windows by arrival: the rows of a partition, cut where a rule says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muntin.engine.arrival import reading
from muntin.engine.arrival.fired import tiled
from muntin.engine.arrival.tumbling_kernel import tumbled
from muntin.engine.arrival.tumbling_plain_kernel import PlainRows, PlainRules, tumbled_plain
from muntin.engine.arrival.tumbling_steps import NOTED, Markers, TumblingRows, TumblingRules

if TYPE_CHECKING:
    from muntin.engine.arrival.fired import Fired
    from muntin.engine.arrival.rules import Measure, Rules
    from muntin.states.frames import Frames


def tumble(rules: Rules, frames: Frames) -> Fired:
    """The windows that were full or ended, and what is open at the end."""
    if rules.ends_by_rows_alone:
        return _by_rows_alone(rules.evict, frames)
    rows, evict = reading.arrived_rows(frames), rules.evict
    value, known, difference = reading.compared(evict, frames)
    marker = reading.marked(rules, frames)
    rank = reading.ranked(frames) if marker.any() else np.zeros(len(frames), np.int64)
    markers = np.flatnonzero(marker)[np.argsort(rank[marker])]
    windows, notes = tumbled(
        TumblingRows(
            frames.group, frames.batch, rank, reading.clocked(frames), value, known, reading.sections(rules, frames), marker,
            *reading.drops(rules, frames),
        ),
        TumblingRules(
            evict.rows, difference, evict.absolute, evict.time_us, rows.origin, bool(rules.ends_with),
            rules.dense, rules.age_us, rules.emit, rules.most_partitions >= 0 or rules.most_rows >= 0,
        ),
        Markers(rank[markers], frames.batch[markers]),
        rows.ends,
        rows.noted_after,
        reading.counters(frames, NOTED),
    )  # fmt: skip
    return tiled(windows, notes, np.zeros(len(notes), np.int64), len(frames))


def _by_rows_alone(evict: Measure, frames: Frames) -> Fired:
    rows, nothing = reading.arrived_rows(frames), np.empty(0, np.int64)
    clock = nothing if rows.clock is None else reading.clocked(frames)
    value, known, difference = (nothing, nothing > 0, -1.0) if evict.difference is None else reading.compared(evict, frames)
    windows, notes = tumbled_plain(
        PlainRows(frames.group, frames.batch, clock, value, known),
        PlainRules(evict.rows, difference, evict.absolute),
        rows.noted_after,
        reading.counters(frames, NOTED),
        len(rows.ends),
    )
    return tiled(windows, notes, np.zeros(len(notes), np.int64), len(frames))
