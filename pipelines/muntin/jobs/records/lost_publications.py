"""Publications that reports tell of and that a table of windows does not have: it has lost commits, or an
older copy was put back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from muntin.definition.instants import label
from muntin.errors import StateError
from muntin.jobs.published.pending import Pending, accumulated, pending_window
from muntin.jobs.published.promotion import superseded
from muntin.jobs.records.reports_table import read_reports
from muntin.jobs.state.bound import Bound

_COLUMNS = ["batch", "step", "recorded_at", "version", "windows_closed"]


def check_published(bound: Bound, todo: Pending) -> None:
    """Refuse to read windows older than reports tell.

    Reports are read only where a batch waits to be published.
    """
    if starts := _lost(bound, todo):
        raise StateError(
            f"{bound.table(todo.published.table)} has lost commits, or an older copy was put back: reports"
            f" say that windows of batch {label(starts[0])} were published, and it does not have them. muntin"
            " doctor --mend FILE derives them again"
        )


def lost_publications(bound: Bound, window: str) -> tuple[int, ...]:
    """Starts of the batches whose windows of a name were published, as reports say, and are not there."""
    return _lost(bound, pending_window(bound, window))


def _lost(bound: Bound, todo: Pending) -> tuple[int, ...]:
    """Batches that are not published as they are now, that were read as they are now, and of which a later
    report says published.

    What waits because a suite failed, or because a run is at work, was read after it was last published.
    """
    batches, ledger = todo.history.batches, todo.published.ledger
    if not todo.work or (ledger and ledger.definition != bound.derivation(todo.window)):
        return ()
    ledger_versions = batches.version[:0] if ledger is None else ledger.entries.version
    at = np.full(len(batches), -1) if ledger is None else ledger.entries.position(batches.start_us)
    other = batches.take((at < 0) | (np.append(ledger_versions, np.uint64(0))[at] != batches.version))
    # a newer definition has taken these windows' place
    if not len(other) or (ledger is None and todo.window in superseded(bound)):
        return ()
    rows = read_reports(bound.store, _COLUMNS, span_us=(int(other.start_us[0]), int(other.start_us[-1])))
    reports: dict[int, dict[str, Any]] = {}
    for row, start in zip(rows.to_pylist(), rows["batch"].cast("int64").to_pylist(), strict=True):
        reports.setdefault(start, {})[row["step"]] = row
    table = bound.frame_sets[0].table
    read = accumulated(bound, table)  # reports name the versions of this table
    versions = dict(zip(read.start_us.tolist(), read.version.tolist(), strict=True))
    return tuple(
        start
        for start in other.start_us.tolist()
        if _is_published(reports.get(start, {}), versions.get(start), todo.window)
    )


def _is_published(reports: Mapping[str, Any], version: int | None, window: str) -> bool:
    """Whether windows of a batch with this version of its states were published, as its
    newest reports say.
    """
    read, publication = reports.get("accumulate"), reports.get("publish")
    if (
        not read
        or not publication
        or int(read["version"], 16) != version
        or publication["recorded_at"] < read["recorded_at"]
    ):
        return False
    return window in json.loads(publication["windows_closed"] or "{}")
