"""Culprits: the batches whose rows are in windows that failed their suite."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import instant_us
from muntin.definition.kinds import Bounded, Chained
from muntin.jobs.state.bound import Bound
from muntin.quality.report import QualityReport
from muntin.sources.sessions.duckdb_session import closed_session
from muntin.states.columns import BATCH, FRAME, INSTANT
from muntin.store.reading import read_files

_BOUNDS = ("window_start", "window_end")


def culprits(bound: Bound, window: str, report: QualityReport) -> tuple[int, ...] | None:
    """Starts of the batches whose rows are in the failing windows, published batches too, ascending; None
    where the failed checks do not name all of their windows, or the states of a window do not say where all
    its rows came from.
    """
    frames = bound.frames_of(window)
    snapshot = bound.store.snapshot(frames.table)
    if not (report.failing and _says_where(bound, window)) or snapshot.schema is None:
        return None
    keys, kind = bound.keys_of(window), bound.windows[window]
    starts, ends = ([instant_us(row[name], name) for row in report.failing] for name in _BOUNDS)  # type: ignore[arg-type]
    low, high = (_instant(each) for each in (min(starts) - frames.width_us, max(ends) + kind.beyond_us))
    within = (pc.field(FRAME) > low) & (pc.field(FRAME) <= high)
    states = read_files(bound.table(frames.table), snapshot, [*keys, FRAME, BATCH], within)
    types = [(name, snapshot.schema.field(name).type) for name in keys]
    types += [(name, INSTANT) for name in (*_BOUNDS, BATCH)]
    # a batch behind the closing batch came too late for the window, unless its rows may revise it
    in_time = "" if kind.lateness_us else f" AND s.{BATCH} <= f.{BATCH}"
    escaped = [name.replace('"', '""') for name in keys]
    same_key = "".join(f' AND s."{name}" IS NOT DISTINCT FROM f."{name}"' for name in escaped)
    session = closed_session()
    session.register("f", pa.Table.from_pylist([*report.failing], pa.schema(types)))
    session.register("s", states)
    try:
        rows = session.execute(
            f"SELECT DISTINCT epoch_us(s.{BATCH}) FROM s JOIN f"
            f" ON s.{FRAME} + to_microseconds({frames.width_us}) > f.window_start"
            f" AND (s.{FRAME} < f.window_end + to_microseconds({kind.beyond_us})"
            f" OR s.{FRAME} <= f.window_start){in_time}{same_key}"
        )
        return (*sorted(start for (start,) in rows.fetchall()),) or None
    finally:
        session.unregister("f")
        session.unregister("s")


def _says_where(bound: Bound, window: str) -> bool:
    """Whether each row of a window is in a state of its own time and batch: no value lasts from an earlier
    window, and no change of a row counts at home in another batch.
    """
    frames = bound.frames_of(window)
    return (
        isinstance(bound.windows[window].follows, Bounded | Chained)
        and frames.is_even
        and not frames.by_arrival
        and not any(each.carry for each in bound.aggregates.values())
        and bound.source.changes is None
    )


def _instant(us: int) -> pa.Scalar:
    return pa.scalar(us, pa.int64()).cast(INSTANT)
