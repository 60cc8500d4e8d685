"""Revised windows: published windows that differ since a version, with old and new values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import VersionGoneError
from muntin.extensions.page.views.seen import Key, Seen, keys_of
from muntin.extensions.page.views.tables import ROWS, values_of
from muntin.jobs.published.changes_since import Since, changes_since
from muntin.jobs.published.revisions import CHANGE, OLD, REVISION
from muntin.jobs.published.window_tables import current
from muntin.states.sorted import instants

RECENT = 20
"""So many versions are looked back, unless a version is named."""


@dataclass(frozen=True, slots=True)
class RevisedRow:
    """A revised window: its key as texts, its bounds (microseconds), the version that revised it, "changed"
    or "gone", and each result before and after.
    """

    key: Key
    start_us: int
    end_us: int
    revision: int
    change: str
    values: tuple[tuple[Any, Any], ...]


@dataclass(frozen=True, slots=True)
class RevisedTable:
    """The windows that were revised since a version, the newest first; `total`: how many they are."""

    window: str
    columns: tuple[str, ...]
    rows: tuple[RevisedRow, ...]
    total: int
    since: int
    version: int


def revised_table(at: Seen, window: str, since: int | None) -> RevisedTable:
    """The windows of a name that were published before, and differ now."""
    since_then = _since(at, window, since)
    rows = since_then.rows.filter(pc.not_equal(since_then.rows[CHANGE], "new"))
    newest = rows.sort_by([(REVISION, "descending"), ("window_end", "descending")]).slice(0, ROWS)
    names = [name for name in at.pipeline.results if name in newest.column_names]
    pairs = [[*zip(values_of(newest[OLD + name]), values_of(newest[name]), strict=True)] for name in names]
    bounds = (_us(newest, name) for name in ("window_start", "window_end"))
    facts = (newest[name].to_pylist() for name in (REVISION, CHANGE))
    values = zip(*pairs, strict=True) if pairs else iter([()] * len(newest))
    shown = zip(keys_of(at, window, newest), *bounds, *facts, values, strict=True) if len(newest) else ()
    start = since_then.version - RECENT if since is None else since
    return RevisedTable(
        window, tuple(names), tuple(RevisedRow(*each) for each in shown), len(rows), start, since_then.version
    )


def _since(at: Seen, window: str, since: int | None) -> Since:
    """Changes since a version, or lately, as far as files of earlier versions are there."""
    version = current(at.bound.store, window).snapshot.version
    if since is not None:
        return changes_since(at.bound, window, since, old=at.pipeline.results)
    try:
        return changes_since(
            at.bound, window, min(max(version - RECENT, 0), version), old=at.pipeline.results
        )
    except VersionGoneError:
        return changes_since(at.bound, window, version, old=at.pipeline.results)


def _us(rows: pa.Table, name: str) -> list[int]:
    return instants(rows[name]).tolist() if len(rows) else []
