"""Rows that came late, which correct published windows or miss them; and rows in the quarantine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL, from_us
from muntin.definition.kinds import Bounded
from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.files.paths import AnyPath
from muntin.jobs.finalize.finalize_task import combined_shard
from muntin.jobs.finalize.shard import Shard, shards
from muntin.jobs.inputs.inputs import without_files
from muntin.jobs.inputs.listings.of_several import purged
from muntin.jobs.inspect.selection import instant, no_window
from muntin.jobs.published.as_defined import as_readers_know, check_as_defined
from muntin.jobs.published.pending import Pending, pending_window
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.state_folders import bind_existing
from muntin.jobs.upkeep.outdated import Outdated
from muntin.states.columns import BATCH, BATCH_POSITION, FRAME, INSTANT
from muntin.store.paths import QUARANTINE
from muntin.store.reading import read_files
from muntin.store.shared_files import within
from muntin.timeline.history import Work

COLUMNS = (BATCH, "file", "line", "position", "column", "reason", "event_time", "row")


def quarantined(
    pipeline: Pipeline, *, root: str | AnyPath, start: datetime | None = None, end: datetime | None = None
) -> pa.Table:
    """The rows of the quarantine, of the batches whose intervals begin in `[start, end)`, sorted by batch,
    file and position.

    Columns: batch (start of its interval), file, line (of files of text, from 1), position (in the file, from
    0), column (null: the whole row), reason, event_time and row, as text. A file that was refused as a whole
    has neither line nor position nor row.
    """
    bound = bind_existing(pipeline, root)
    snapshot = bound.store.snapshot(QUARANTINE)
    if snapshot.version < 0:
        return pa.table({name: pa.array([], INSTANT if name == BATCH else pa.string()) for name in COLUMNS})
    begin = pc.field(BATCH) >= instant(start, "start") if start else pc.field(BATCH).is_valid()
    condition = begin & (pc.field(BATCH) < instant(end, "end")) if end else begin
    table = read_files(bound.table(QUARANTINE), snapshot, COLUMNS, condition)
    return table.sort_by([(name, "ascending") for name in (BATCH, "file", "position")])


def to_retry(pipeline: Pipeline, rows: pa.Table, *, root: str | AnyPath) -> list[Outdated]:
    """The batches that rows of the quarantine belong to, in order.

    `rows`: as `quarantined` gives them.
    """
    bound = bind_existing(pipeline, root)
    counts = Counter(rows[BATCH].cast(pa.int64()).to_pylist())
    intervals = [Interval(at, pipeline.intervals.after(at)) for at in sorted(counts)]
    gone = set(purged(bound, without_files(bound, intervals)))
    return [
        Outdated(
            from_us(each.start_us),
            from_us(each.end_us),
            f"{many(counts[each.start_us], 'row')} in the quarantine",
            each in gone,
        )
        for each in intervals
    ]


def reasons(rows: pa.Table) -> Sequence[tuple[str, int]]:
    """Each reason with its number of rows, the most frequent first."""
    return Counter(rows["reason"].to_pylist()).most_common()


@dataclass(frozen=True, slots=True)
class LateBatch:
    """A batch with rows that came when a window over them was published.

    Attributes:
        window, batch: its name, and the start of the batch.
        in_time: rows that came before each of their windows was published; None where the report on the batch
            is gone.
        correcting: rows that count in each of their windows, some of which they revised.
        late: rows that came too late for at least one window.
        missed: how many windows these missed, summed over rows.
    """

    window: str
    batch: datetime
    in_time: int | None
    correcting: int
    late: int
    missed: int


def late(pipeline: Pipeline, window: str | None = None, *, root: str | AnyPath) -> list[LateBatch]:
    """The batches with rows that came when a window was published, for one window or for each of them, as the
    ledgers say.
    """
    names = _windows(pipeline, window)
    bound = bind_existing(pipeline, root)
    for name in names:
        check_as_defined(bound, name)
    ledgers = {name: now.ledger.entries for name in names if (now := published(bound.store, name)).ledger}
    chosen = {name: each.take(each.late + each.correcting > 0) for name, each in ledgers.items()}
    starts = sorted({start for each in chosen.values() for start in each.start_us.tolist()})
    reports = last_accumulated(bound.store, [Interval(at, pipeline.intervals.after(at)) for at in starts])
    return [
        LateBatch(
            name,
            from_us(start),
            reports[start]["rows_accepted"] - correcting - late if start in reports else None,
            correcting,
            late,
            missed,
        )
        for name, each in chosen.items()
        for start, correcting, late, missed in zip(
            *(column.tolist() for column in (each.start_us, each.correcting, each.late, each.missed)),
            strict=True,
        )
    ]


def late_states(pipeline: Pipeline, window: str, *, root: str | AnyPath) -> pa.Table:
    """The states that came too late for some of a window's windows, from the checkpoint as it is.

    Key columns, frame (its start), batch (start of its interval), rows, and windows (how many windows each
    row missed).
    """
    _windows(pipeline, window)
    keys = pipeline.keys_of(window)
    bound = as_readers_know(bind_existing(pipeline, root))
    if pipeline.windows[window].made_of.by_arrival:
        return _no_states(keys)
    pending = pending_window(bound, window)
    names = [*keys, FRAME, "batch", "rows", "windows"]
    # as if all states were to be read, and no window asked for: the open windows alone
    work = Work(np.array([len(pending.history.batches)]), BEFORE_ALL, AFTER_ALL)
    tables = [_late_of(pipeline, pending, shard) for shard in shards(bound, replace(pending, work=work), "")]
    if not tables:
        return _no_states(keys)
    table = pa.concat_tables(tables).select(names)
    return table.sort_by([(name, "ascending") for name in ("batch", *keys, FRAME)])


def _no_states(keys: Sequence[str]) -> pa.Table:
    names = [*keys, FRAME, "batch", "rows", "windows"]
    return pa.table(
        {name: pa.array([], INSTANT if name in (FRAME, "batch") else pa.int64()) for name in names}
    )


def _windows(pipeline: Pipeline, window: str | None) -> list[str]:
    if window is not None and window not in pipeline.windows:
        raise no_window(pipeline, window)
    return [window] if window else [*pipeline.windows]


def _late_of(pipeline: Pipeline, pending: Pending, shard: Shard) -> pa.Table:
    if (
        isinstance(pipeline.windows[pending.window].follows, Bounded)
        and pending.published.ledger
        and not pending.work
    ):
        # Whether a state is late depends on no other state here: the batches with late rows are enough.
        entries = pending.published.ledger.entries
        counted = entries.start_us[entries.late > 0]
        shard = replace(shard, files=[path for path in shard.files if len(within(counted, path))])
    combined = combined_shard(shard)
    missed = combined.assignment.missed
    rows = np.flatnonzero(missed > 0)
    states = combined.states.take(pa.array(rows))
    batch = pa.array(pending.history.batches.start_us[states[BATCH_POSITION].to_numpy()]).view(INSTANT)
    late_rows = states.select([*pipeline.keys_of(pending.window), FRAME, "rows"])
    return late_rows.append_column("batch", batch).append_column("windows", pa.array(missed[rows]))
