"""Published windows and refused rows a page at a time, read by key and by time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds

from muntin.definition.instants import instant_us
from muntin.jobs.inspect.newest_rows import Page, Place, newest_rows
from muntin.jobs.inspect.one_key import is_key, value_of
from muntin.jobs.published.as_defined import check_as_defined
from muntin.jobs.published.window_tables import published
from muntin.states.columns import INSTANT
from muntin.store.paths import QUARANTINE, batches_of_windows, parse_states_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from muntin.jobs.state.bound import Bound


@dataclass(frozen=True, slots=True)
class Asked:
    """A selection of windows: of some keys (column -> value, or its text), touching `[start, end)`; None
    selects all.
    """

    keys: Mapping[str, Any] = field(default_factory=dict)
    start: datetime | None = None
    end: datetime | None = None


def some_windows(bound: Bound, window: str, asked: Asked, *, limit: int, begin: Place | None = None) -> Page:
    """A page of a window's published table, with all its columns: by closing batch, the newest first; then by
    key and start.
    """
    check_as_defined(bound, window)
    now = published(bound.store, window)
    snapshot = now.snapshot
    condition = None if snapshot.schema is None else _condition(asked, snapshot.schema)
    order = dict.fromkeys((*bound.keys_of(window), *bound.windows[window].order))
    return newest_rows(
        bound.table(now.table),
        snapshot,
        batches_of_windows,
        limit=limit,
        begin=begin,
        condition=condition,
        order=[*order],
    )


def newest_states(bound: Bound, window: str, *, limit: int) -> Page:
    """A page of the states that a window is made of: by batch, the newest first."""
    table = bound.frames_of(window).table
    return newest_rows(
        bound.table(table),
        bound.store.snapshot(table),
        _batches_of_rows,
        limit=limit,
        order=bound.pipeline.keys,
    )


def refused_rows(bound: Bound, *, limit: int, begin: Place | None = None) -> Page:
    """A page of the quarantine: batch, reason, file, position, event_time and the whole row as text."""
    snapshot = bound.store.snapshot(QUARANTINE)
    return newest_rows(
        bound.table(QUARANTINE),
        snapshot,
        _batches_of_rows,
        limit=limit,
        begin=begin,
        order=["file", "position"],
    )


def _batches_of_rows(path: str) -> tuple[int, int]:
    path_facts = parse_states_path(path)
    return path_facts.first_us, path_facts.last_us


def _condition(asked: Asked, schema: pa.Schema) -> ds.Expression | None:
    conditions = [
        is_key(ds.field(name), value_of(name, value, schema.field(name).type))
        for name, value in asked.keys.items()
    ]
    if asked.start is not None:
        conditions.append(ds.field("window_end") > _instant(asked.start))
    if asked.end is not None:
        conditions.append(ds.field("window_start") < _instant(asked.end))
    return reduce(and_, conditions) if conditions else None


def _instant(moment: datetime) -> pa.Scalar:
    return pa.scalar(instant_us(moment, "time"), pa.int64()).cast(INSTANT)
