"""Revisions as a verdict: with `on_revision="ask"`, windows fail that would change published windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from muntin.jobs.published.changes import BOUNDS, Changes, changed_windows
from muntin.jobs.published.staged_windows import Staged, StagedWindow
from muntin.jobs.published.window_files import files_over
from muntin.jobs.published.window_tables import current, published
from muntin.jobs.state.bound import Bound
from muntin.quality.report import Check, QualityReport, plain
from muntin.store.store import File

MOST = 20
"""Rows of a report."""


def with_revisions(bound: Bound, staged: Staged, reports: Sequence[QualityReport]) -> list[QualityReport]:
    """The reports on staged windows, a report for each window, with a check that published windows stay."""
    report_of = {report.window: report for report in reports}
    return [
        replace(report, checks=(*report.checks, check), failing=report.failing if check.success else None)
        for window in staged.windows
        for check in [_check(bound, staged, window)]
        for report in [report_of.get(window.window) or _unguarded(bound, staged, window)]
    ]


def _unguarded(bound: Bound, staged: Staged, window: StagedWindow) -> QualityReport:
    folder = bound.folder / staged.folder / window.window
    files = tuple(f"{folder}/{file['path']}" for file in window.files)
    return QualityReport(window.window, sum(file["rows"] for file in window.files), (), files)


def _check(bound: Bound, staged: Staged, window: StagedWindow) -> Check:
    changes = _revised(bound, staged, window)
    return Check(
        type="published_windows_stay",
        column=None,
        kwargs={"on_revision": "ask"},
        severity="critical",
        success=not changes,
        unexpected_count=len(changes) + changes.uncompared if changes else None,
        failing_rows=tuple(_rows(changes.rows(MOST))) if changes else (),
    )


def _revised(bound: Bound, staged: Staged, window: StagedWindow) -> Changes | None:
    """Changes by staged windows of windows that readers see under the same definition."""
    now = published(bound.store, window.window)
    if (
        now.ledger is None
        or now.ledger.definition != window.definition
        or now.table != current(bound.store, window.window).table
    ):
        return None
    starts = np.array(window.starts, np.int64)
    old = [file for file, _, _ in files_over(now.snapshot.files, starts)]
    new = [File(file["path"], file["size"], file["rows"]) for file in window.files]
    folder = bound.folder / staged.folder / window.window
    return changed_windows(bound, window.window, now, old, new, starts, folder)


def _rows(changes: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each changed window: keys, bounds, and each value as "old -> new"."""
    for row in changes:
        old, new = row["old"], row["new"]
        place = row["key"] | {name: row[name] for name in BOUNDS}
        yield place | {name: f"{_value(old, name)} -> {_value(new, name)}" for name in old or new}


def _value(side: Mapping[str, Any] | None, name: str) -> object:
    return "no window" if side is None else plain(side[name])
