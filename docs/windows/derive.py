"""The windows of a few events, by the engine itself: what the pictures of these pages show."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.engine.windows import combine_arranged
from muntin.laws.states import lifted, queried
from muntin.states.columns import ARRIVAL_TIME, BATCH_POSITION, EVENT_TIME, INSTANT
from muntin.states.sorted import Batches, arrange, arrange_rows
from muntin.timeline.closing import closing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from muntin.states.sorted import Arranged
    from muntin.windows.kind import Window

SECOND = 1_000_000
MEMBERS = agg.collect("name")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A window: its bounds in seconds after the picture's zero, the names of its events, whether it is closed; `cut` of sessions."""

    start: int
    end: int
    members: tuple[str, ...]
    closed: bool
    cut: bool = False


def derived(window: Window, arrivals: Sequence[Sequence[int]], zero: datetime, length: int) -> list[Drawn]:
    """The windows of these events, in order.

    Args:
        window: the definition.
        arrivals: batch by batch when events happened, in seconds after `zero`; that is their name too. Events of windows
            by arrival come in this order.
        zero: the start of the first batch.
        length: of a batch's interval, in seconds.
    """
    starts = instant_us(zero, "zero") + np.arange(len(arrivals) + 1) * length * SECOND
    states = pa.concat_tables([_states(window, times, int(starts[0]), at) for at, times in enumerate(arrivals)])
    combined = combine_arranged(
        _arranged(window, states, starts), window=window, when=closing(window, starts[1:]), keys=(), aggregates={"members": MEMBERS}
    )
    closed = (combined.closed < len(arrivals)).tolist()
    return [_drawn(row, int(starts[0]), done) for row, done in zip(combined.windows.to_pylist(), closed, strict=True)]


def _states(window: Window, times: Sequence[int], zero: int, position: int) -> pa.Table:
    """The states of a batch's events: one a frame, or one a row in order of arrival."""
    of_rows = window.made_of.of_rows
    rows: list[dict[str, Any]] = [
        {"name": str(second), "second": second, "time": zero + second * SECOND} for second in (times if of_rows else sorted(times))
    ]
    width = window.frame_us(0)
    begin = window.cycle.cuts_us[0] % width if window.cycle else 0
    frames = [(start * width + begin, list(each)) for start, each in groupby(rows, lambda row: (row["time"] - begin) // width)]
    columns = {
        "frame": [start for start, _ in frames],
        "first_event": [each[0]["time"] for _, each in frames],
        "last_event": [each[-1]["time"] for _, each in frames],
    }
    states = lifted(MEMBERS, [each for _, each in frames], {"name": pa.string()})
    for name, instants in columns.items():
        states = states.append_column(name, pa.array(instants, pa.int64()).view(INSTANT))
    states = states.append_column(ARRIVAL_TIME, pa.array(columns["frame"], pa.int64()))
    if window.made_of.lifts:  # then a state is a row
        for name, values in _read(window.made_of.lifts, rows).items():
            there = states.column_names
            states = (
                states.set_column(there.index(name), name, values.cast(INSTANT)) if name in there else states.append_column(name, values)
            )
    return states.append_column(BATCH_POSITION, pa.array([position] * len(frames), pa.int64()))


def _read(lifts: Mapping[str, str], rows: Sequence[dict[str, Any]]) -> dict[str, pa.ChunkedArray]:
    """What a window reads of each row, beside its members."""
    seconds, times = [row["second"] for row in rows], [row["time"] for row in rows]
    numbered = pa.table({"place": range(len(rows)), "second": seconds, EVENT_TIME: times})
    found = queried(numbered, lifts, "GROUP BY place ORDER BY place")
    return {name: found[name] for name in lifts}


def _arranged(window: Window, states: pa.Table, starts: np.ndarray) -> Arranged:
    if window.made_of.of_rows:
        batches = Batches(starts[:-1], starts[1:], int(starts[0]), np.array([], np.int64))
        return arrange_rows(states, None, (), batches, by_arrival=window.made_of.by_arrival)
    return arrange(states, (), window.frame_us(0))


def _drawn(row: dict[str, Any], zero: int, closed: bool) -> Drawn:  # noqa: FBT001 - a plain fact of the row
    start, end = ((instant_us(row[name], name) - zero) // SECOND for name in ("window_start", "window_end"))
    return Drawn(start, end, tuple(row["members"]), closed, bool(row.get("cut", False)))
