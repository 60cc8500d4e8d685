"""Culprits: the staged batches whose rows are in windows that failed their suite."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from muntin.definition.instants import instant_us
from muntin.jobs.published.staged_windows import StagedWindow
from muntin.jobs.state.bound import Bound
from muntin.quality.report import QualityReport
from muntin.sources.sessions.duckdb_session import closed_session
from muntin.states.columns import BATCH, FRAME, INSTANT
from muntin.store.reading import read_files

_BOUNDS = ("window_start", "window_end")


def culprits(bound: Bound, staged: StagedWindow, report: QualityReport) -> tuple[int, ...] | None:
    """Starts of the staged batches whose rows are in the failing windows, ascending; None where the failed
    checks do not name all of their windows, or no staged batch has rows in them.
    """
    table = bound.frames_of(staged.window).table
    snapshot = bound.store.snapshot(table)
    if len(staged.starts) == 1:
        return (*staged.starts,)
    if not report.failing or snapshot.schema is None or FRAME not in snapshot.schema.names:
        return None
    keys = bound.keys_of(staged.window)
    kinds = [(name, snapshot.schema.field(name).type) for name in keys]
    wanted = pa.schema([*kinds, *((name, INSTANT) for name in (*_BOUNDS, BATCH))])
    failing = pa.Table.from_pylist([*report.failing], wanted)
    low, high = (
        pa.scalar(each, pa.int64()).cast(INSTANT)
        for each in (
            min(instant_us(row[_BOUNDS[0]], _BOUNDS[0]) for row in report.failing),  # type: ignore[arg-type]
            max(instant_us(row[_BOUNDS[1]], _BOUNDS[1]) for row in report.failing),  # type: ignore[arg-type]
        )
    )
    batches = pa.array(np.array(staged.starts, np.int64)).cast(INSTANT)
    within = (pc.field(FRAME) >= low) & (pc.field(FRAME) <= high) & ds.field(BATCH).isin(batches)
    states = read_files(bound.table(table), snapshot, [*keys, FRAME, BATCH], within)
    escaped = [name.replace('"', '""') for name in keys]
    same_key = "".join(f' AND s."{name}" IS NOT DISTINCT FROM f."{name}"' for name in escaped)
    session = closed_session()
    session.register("f", failing)
    session.register("s", states)
    try:
        rows = session.execute(
            f"SELECT DISTINCT epoch_us(s.{BATCH}) FROM s JOIN f ON s.{FRAME} >= f.window_start"
            f" AND s.{FRAME} < greatest(f.window_end, f.window_start + INTERVAL 1 MICROSECOND)"
            f" AND s.{BATCH} <= f.{BATCH}{same_key}"  # a later batch came too late for the window
        )
        return (*sorted(start for (start,) in rows.fetchall()),) or None
    finally:
        session.unregister("f")
        session.unregister("s")
