"""Published windows and refused rows a page at a time, read by key and by time.

Rows of a table a page at a time, rows of the newest batches first. Only the files that a page needs are
read.

files by batches   [1 .. 512]   [513 .. 600] [520 .. 600]   [601]
stretches               C              B                      A       files that overlap are read together
a page                                 <--------------------------    from A on, until it is full
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.files.paths import AnyPath
from muntin.jobs.inspect.one_key import is_key, value_of
from muntin.jobs.inspect.selection import instant
from muntin.jobs.published.as_defined import check_as_defined
from muntin.jobs.published.window_tables import published
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BATCH, INSTANT
from muntin.store.paths import QUARANTINE, batches_of_windows, parse_states_path
from muntin.store.reading import read_files
from muntin.store.store import File, Snapshot

Span = Callable[[str], tuple[int, int] | None]

_TOGETHER = 64  # stretches at most that are read in one go, while a page stays empty


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins: at a batch, after so many of its rows."""

    batch_us: int
    skip: int


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and where the next page begins; None: there are no more."""

    rows: pa.Table
    after: Place | None


def newest_rows(
    folder: AnyPath,
    snapshot: Snapshot,
    span: Span,
    *,
    limit: int,
    begin: Place | None = None,
    condition: pc.Expression | None = None,
    order: Sequence[str] = (),
) -> Page:
    """A page of a table with the column `batch`: by batch, the newest first, then by `order`.

    `span`: path of a file -> starts of the first and the last of its batches; None: it holds no rows.
    `limit`: so many rows at most. `begin`: `after` of the page before. `condition`: on the rows.
    """
    tables, have, together = list[pa.Table](), 0, 1
    rest = _stretches(snapshot.files, span, begin.batch_us if begin else None)
    if begin:
        before = pc.field(BATCH) <= instant(begin.batch_us)
        condition = before if condition is None else condition & before
    while rest and have <= limit:
        part, rest = [file for stretch in rest[:together] for file in stretch], rest[together:]
        rows = _sorted(read_files(folder, replace(snapshot, files=tuple(part)), None, condition), order)
        # of the first rows earlier pages had some
        rows = rows.slice(min(begin.skip, _of_batch(rows, begin.batch_us)) if begin and not have else 0)
        tables.append(rows.slice(0, limit + 1 - have))
        have += len(tables[-1])
        together = min(together * 2, _TOGETHER)
    table = (
        pa.concat_tables(tables)
        if tables
        else (snapshot.schema or pa.schema([(BATCH, INSTANT)])).empty_table()
    )
    return Page(table.slice(0, limit), _after(table, limit, begin) if have > limit else None)


def _stretches(files: Sequence[File], span: Span, up_to: int | None) -> list[list[File]]:
    """The files that may hold batches up to a start, the newest first; overlapping files together."""
    spans = [
        (bounds[1], bounds[0], file)
        for file in files
        if (bounds := span(file.path)) and (up_to is None or bounds[0] <= up_to)
    ]
    stretches, low = list[list["File"]](), 0
    for last, first, file in sorted(spans, key=lambda each: (-each[0], each[2].path)):
        if stretches and last >= low:
            stretches[-1].append(file)
            low = min(low, first)
        else:
            stretches.append([file])
            low = first
    return stretches


def _sorted(rows: pa.Table, order: Sequence[str]) -> pa.Table:
    named = [(name, "ascending") for name in order if name in rows.column_names]
    return rows.sort_by([(BATCH, "descending"), *named]) if len(rows) else rows


def _of_batch(rows: pa.Table, batch_us: int) -> int:
    return int(pa.compute.sum(pa.compute.equal(rows[BATCH].cast(pa.int64()), batch_us)).as_py() or 0)


def _after(table: pa.Table, limit: int, begin: Place | None) -> Place:
    """The place behind the rows of a page; the table has a row more."""
    shown = table.slice(0, limit)
    last = shown[BATCH].cast(pa.int64())[limit - 1].as_py()
    before = begin.skip if begin and begin.batch_us == last else 0
    return Place(last, before + _of_batch(shown, last))


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
    condition = None
    if snapshot.schema is not None:
        conditions = [
            is_key(pc.field(name), value_of(name, value, snapshot.schema.field(name).type))
            for name, value in asked.keys.items()
        ]
        if asked.start is not None:
            conditions.append(pc.field("window_end") > instant(asked.start))
        if asked.end is not None:
            conditions.append(pc.field("window_start") < instant(asked.end))
        condition = reduce(and_, conditions) if conditions else None
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
