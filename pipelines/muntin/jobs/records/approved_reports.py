"""Reports of batches that were published despite a failed suite: they say so until their windows are
published anew.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import instant_us
from muntin.jobs.records.approvals import still_said
from muntin.jobs.records.reports_table import DESPITE, TABLE, read_reports

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muntin.jobs.records.reports import BatchReport
    from muntin.store.store import Store

    Said = Mapping[int, Mapping[str, Any]]


def with_approvals(
    store: Store, reports: Iterable[BatchReport], published: Mapping[str, Sequence[int]], said: Said
) -> list[BatchReport]:
    """The reports of a run's batches, each with the approval that its published windows rest on.

    `published`: window -> starts of the batches whose windows the run published. `said`: start of a batch ->
    the approval by which the run published it.
    """
    by_start = {instant_us(one.interval_start, "start"): one for one in reports}
    before = still_said(said_before(store, [*by_start]), published)
    return [replace(one, despite=said.get(start) or before.get(start)) for start, one in by_start.items()]


def said_before(store: Store, starts: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Start of a batch -> the approval of its newest publication.

    Nothing is read where there never was an approval.
    """
    snapshot = store.snapshot(TABLE)
    if not starts or snapshot.schema is None or DESPITE not in snapshot.schema.names:
        return {}
    columns = ["batch", "recorded_at", DESPITE]
    table = read_reports(store, columns, "publish", (min(starts), max(starts)))
    return newest_said(table.set_column(0, "batch", table["batch"].cast(pa.int64())))


def newest_said(published: pa.Table) -> dict[int, dict[str, Any]]:
    """Start of a batch -> the approval of its newest publication.

    `published`: batch, recorded_at, despite, of reports of publications.
    """
    rows = published.sort_by("recorded_at")
    newest = dict(zip(rows["batch"].to_pylist(), rows[DESPITE].to_pylist(), strict=True))
    return {start: json.loads(said) for start, said in newest.items() if said}


def approvals_in(reports: pa.Table | None) -> dict[int, dict[str, Any]]:
    """Start of a batch -> the approval that its published windows rest on.

    `reports`: as `reports_of` has them.
    """
    if reports is None or DESPITE not in reports.column_names:
        return {}
    return newest_said(reports.filter(pc.equal(reports["step"], "publish")))
