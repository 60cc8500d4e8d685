"""Tables of a pipeline, a page at a time: windows, refused rows, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from muntin.definition.instants import spell_instant
from muntin.extensions.page.address import place_text
from muntin.extensions.page.views.seen import Key, Seen, keys_of
from muntin.jobs.inspect.some_windows import Asked, Place, refused_rows, some_windows
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.verdicts import last_verdicts
from muntin.states.columns import BATCH
from muntin.states.sorted import instants

ROWS = 50


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A published window: its key as texts, its bounds and the start of the batch that closed it
    (microseconds), its results.
    """

    key: Key
    start_us: int
    end_us: int
    batch_us: int
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class WindowTable:
    """Some windows; `columns`: names of their results; `total`: how many are published, `more`: where the
    next page begins.
    """

    window: str
    columns: tuple[str, ...]
    rows: tuple[WindowRow, ...]
    total: int
    more: str | None


def window_table(at: Seen, window: str, asked: Asked, begin: Place | None) -> WindowTable:
    """A page of a window's published table."""
    page = some_windows(at.bound, window, asked, limit=ROWS, begin=begin)
    there = page.rows.column_names
    order = (*at.bound.windows[window].columns, *at.pipeline.results)
    rows, columns = page.rows, [name for name in order if name in there]
    values = (
        zip(*(values_of(rows[name]) for name in columns), strict=True) if columns else iter([()] * len(rows))
    )
    bounds = (
        instants(rows[name]).tolist() if len(rows) else [] for name in ("window_start", "window_end", BATCH)
    )
    window_rows = (
        [WindowRow(*each) for each in zip(keys_of(at, window, rows), *bounds, values, strict=True)]
        if len(rows)
        else []
    )
    ledger = published(at.bound.store, window).ledger
    return WindowTable(
        window,
        tuple(columns),
        tuple(window_rows),
        int(ledger.entries.published.sum()) if ledger else 0,
        place_text(page.after),
    )


def values_of(column: pa.ChunkedArray) -> list[Any]:
    """Values as Python has them; instants as text, since some lie before the year 1."""
    if not pa.types.is_timestamp(column.type):
        return column.to_pylist()  # type: ignore[no-any-return]
    whole = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_pylist()
    return [None if us is None else spell_instant(us) for us in whole]


@dataclass(frozen=True, slots=True)
class RefusedTable:
    """Some refused rows: batch (microseconds), reason, file, position, event_time, row."""

    rows: tuple[Mapping[str, Any], ...]
    more: str | None


def refused_table(at: Seen, begin: Place | None) -> RefusedTable:
    """A page of the quarantine."""
    page = refused_rows(at.bound, limit=ROWS, begin=begin)
    if not len(page.rows):
        return RefusedTable((), None)
    rows = page.rows.set_column(
        page.rows.column_names.index(BATCH), BATCH, pa.array(instants(page.rows[BATCH]))
    ).to_pylist()
    return RefusedTable(tuple(rows), place_text(page.after))


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The last verdicts on a window, the newest first; `suite`: the name of its file, None where the window
    has none.
    """

    window: str
    suite: str | None
    verdicts: tuple[Mapping[str, Any], ...]


def verdicts(at: Seen) -> list[Verdicts]:
    """The last verdicts on each window."""
    suites = at.pipeline.expectations
    return [
        Verdicts(
            name, str(suites[name]) if name in suites else None, tuple(last_verdicts(at.bound.folder, name))
        )
        for name in at.pipeline.windows
    ]
