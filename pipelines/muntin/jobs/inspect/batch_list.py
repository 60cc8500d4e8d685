"""The batches of a pipeline in order: published, waiting and missing; and when a batch was last published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds

from muntin.definition.instants import from_us
from muntin.jobs.records.reports_table import TABLE
from muntin.store.reading import read_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from muntin.jobs.published.pending import Pending
    from muntin.store.store import Store

Standing = Literal["published", "read", "waiting", "missing"]


@dataclass(frozen=True, slots=True)
class ListedBatch:
    """A batch or a missing interval; instants in microseconds.

    Attributes:
        start_us, end_us: its interval.
        standing: published; read, and its windows wait for a finalize; waiting behind a missing interval; or
            missing itself.
        watermark_us: the watermark after it; None where it is not published.
        windows, late: how many windows it closed; its rows that came too late for a window.
    """

    start_us: int
    end_us: int
    standing: Standing
    watermark_us: int | None = None
    windows: int = 0
    late: int = 0


def listed_batches(todo: Pending) -> list[tuple[int, int, Standing]]:
    """(start, end, standing) of all batches of a window's history, and of the batches
    around it, ascending.
    """
    history, published_starts = todo.history, todo.published.starts
    standings = np.where(np.isin(history.batches.start_us, published_starts), "published", "read").tolist()
    batches = [
        *zip(history.batches.start_us.tolist(), history.batches.end_us.tolist(), standings, strict=True)
    ]
    batches += [
        (start, end, "waiting")
        for start, end in zip(history.waiting.start_us.tolist(), history.waiting.end_us.tolist(), strict=True)
    ]
    batches += [(hole.start_us, hole.end_us, "missing") for hole in history.missing]
    return sorted(batches)


def with_counts(todo: Pending, some: Sequence[tuple[int, int, Standing]]) -> list[ListedBatch]:
    """Some of `listed_batches`, with what the ledger tells of them."""
    entries = todo.published.ledger.entries if todo.published.ledger else None
    if entries is None:
        return [ListedBatch(*each) for each in some]
    at = entries.position(np.array([start for start, _, _ in some], np.int64))
    columns = (column[at].tolist() for column in (entries.watermark_us, entries.published, entries.late))
    return [
        ListedBatch(*each, *facts) if in_ledger else ListedBatch(*each)
        for each, in_ledger, *facts in zip(some, (at >= 0).tolist(), *columns, strict=True)
    ]


def published_at(store: Store, batch_us: int | None = None) -> datetime | None:
    """When something was last published, or a report of this batch; None where no report says it."""
    snapshot, condition = store.snapshot(TABLE), ds.field("step") == "publish"
    if snapshot.version < 0:
        return None
    if batch_us is not None:
        condition &= ds.field("batch") == from_us(batch_us)
    rows = read_files(store.root / TABLE, snapshot, ["recorded_at"], condition)
    return pc.max(rows["recorded_at"]).as_py()  # type: ignore[no-any-return]
