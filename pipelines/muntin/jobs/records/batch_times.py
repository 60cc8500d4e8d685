"""The times of batches in the table of reports: when each was read and published, and
which were corrected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.jobs.records.reports_table import DESPITE, TABLE
from muntin.jobs.state.bound import Bound
from muntin.states.frames import NO_INTS, Ints
from muntin.store.reading import read_files


def reports_of(bound: Bound) -> pa.Table | None:
    """Some columns of the reports, instants in microseconds; None before the first."""
    snapshot = bound.store.snapshot(TABLE)
    if snapshot.version < 0:
        return None
    more = [DESPITE] if snapshot.schema and DESPITE in snapshot.schema.names else []
    columns = ["batch", "step", "recorded_at", "source_changed", "watermark", *more]
    table = read_files(bound.store.root / TABLE, snapshot, columns)
    # the rest waited, unpublished
    table = table.filter(pc.or_(pc.equal(table["step"], "accumulate"), pc.is_valid(table["watermark"])))
    for name in ("batch", "recorded_at"):
        table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.int64()))
    return table


def corrected_in(table: pa.Table | None) -> Ints:
    """Starts of the batches that were read from another source after they had been published, ascending."""
    if table is None:
        return NO_INTS
    changed = _by_batch(table.filter(table["source_changed"]), last=True)
    published = Times.of(table, np.array([*changed], np.int64)).first_published
    return np.array(sorted(batch for batch, at in changed.items() if published.get(batch, at) < at), np.int64)


def published_at(table: pa.Table | None) -> int | None:
    """When something was last published."""
    newest_us: int | None = (
        None
        if table is None
        else pc.max(table.filter(pc.equal(table["step"], "publish"))["recorded_at"]).as_py()
    )
    return newest_us


@dataclass(frozen=True, slots=True)
class Times:
    """Start of a batch -> when it was first read, last read, first published, last published."""

    first_read: Mapping[int, int]
    read: Mapping[int, int]
    first_published: Mapping[int, int]
    published: Mapping[int, int]

    @classmethod
    def of(cls, table: pa.Table | None, starts: Ints) -> Times:
        if table is None:
            return cls({}, {}, {}, {})
        some = table.filter(pc.is_in(table["batch"], pa.array(starts)))
        read, published = (some.filter(pc.equal(some["step"], step)) for step in ("accumulate", "publish"))
        return cls(*(_by_batch(rows, last=last) for rows in (read, published) for last in (False, True)))


def _by_batch(rows: pa.Table, *, last: bool) -> dict[int, int]:
    """Start of a batch -> the last, or the first, time of its rows."""
    batch, at = rows["batch"].to_numpy(), rows["recorded_at"].to_numpy()
    order = np.lexsort((at, batch) if last else (-at, batch))  # of equal keys of a dict the last value stays
    return dict(zip(batch[order].tolist(), at[order].tolist(), strict=True))
