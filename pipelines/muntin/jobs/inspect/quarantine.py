"""Quarantine: the rows that were refused, with their reasons, and the batches that have any."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds

from muntin.definition.instants import from_us, instant_us
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.jobs.inputs.inputs import without_files
from muntin.jobs.inputs.purged import purged
from muntin.jobs.state.state_folders import bind_existing
from muntin.jobs.upkeep.outdated import Outdated
from muntin.states.columns import BATCH, INSTANT
from muntin.store.paths import QUARANTINE
from muntin.store.reading import read_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath

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
    begin = ds.field(BATCH) >= _instant(start, "start") if start else ds.field(BATCH).is_valid()
    condition = begin & (ds.field(BATCH) < _instant(end, "end")) if end else begin
    table = read_files(bound.table(QUARANTINE), snapshot, None, condition)
    for name in COLUMNS:
        if name not in table.column_names:  # a state from before rows had lines
            table = table.append_column(
                name, pa.nulls(len(table), pa.int64() if name == "line" else pa.string())
            )
    return table.select(COLUMNS).sort_by([(name, "ascending") for name in (BATCH, "file", "position")])


def _instant(moment: datetime, what: str) -> pa.Scalar:
    return pa.scalar(instant_us(moment, what), pa.int64()).cast(INSTANT)


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
