"""Empty windows: windows of the grid between a key's first and last window, or spans of a table, that hold no
event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.repeats import consecutive
from muntin.jobs.published.window_tables import published
from muntin.jobs.schema_check.derive_expressions import derived, of_nothing
from muntin.states.columns import INSTANT
from muntin.states.frames import run_starts
from muntin.states.keys import codes_of, contiguous, key_codes
from muntin.states.sorted import instants
from muntin.timeline.closing import closing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muntin.engine.given_spans import GivenSpans
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints

    Grid = Callable[[int, int], tuple[Ints, Ints]]


def with_empty(bound: Bound, window: str, table: pa.Table) -> pa.Table:
    """The table with its empty windows: of the grid, between each key's first and last window; or of the
    spans of each key.
    """
    schema, kind = bound.store.snapshot(bound.frames_of(window).table).schema, bound.windows[window]
    if schema is None or (kind.grid and not len(table)):
        return table
    bounds = (
        _of_grid(bound.keys_of(window), kind.grid, table)
        if kind.grid
        else _of_spans(bound, window, table, schema)
    )
    columns = {name: bounds[name] for name in bounds.column_names}
    columns |= {
        name: value.take(pa.array(np.zeros(len(bounds), np.int64)))
        for name, value in of_nothing(bound, schema).items()
    }
    rows = derived(bound, window, pa.table(columns))
    columns |= dict(zip(rows.column_names, rows.columns, strict=True)) | _closing(
        bound, window, instants(bounds["window_end"])
    )
    empty = pa.table({name: columns[name] for name in table.column_names})
    return pa.concat_tables([table, empty], promote_options="permissive")


def _of_grid(keys: Sequence[str], grid: Grid, table: pa.Table) -> pa.Table:
    """Keys and bounds of the empty windows of a grid."""
    owner, start, end = _missing(keys, grid, table)
    columns = {key: table[key].take(pa.array(owner)) for key in keys}
    return pa.table(
        columns | {"window_start": pa.array(start).view(INSTANT), "window_end": pa.array(end).view(INSTANT)}
    )


def _missing(keys: Sequence[str], grid: Grid, table: pa.Table) -> tuple[Ints, Ints, Ints]:
    """A row of key, start and end for every empty window."""
    codes = codes_of(table, keys)
    start, end = (
        contiguous(table[name]).cast(INSTANT).view(pa.int64()).to_numpy()
        for name in ("window_start", "window_end")
    )
    order = np.lexsort((end, start, codes))
    heads = np.flatnonzero(run_starts(codes[order]))
    empty = []
    for head, tail in zip(heads, np.append(heads[1:], len(order)), strict=True):
        rows = order[head:tail]
        starts, ends = grid(int(start[rows].min()), int(end[rows].max()))
        present = {*zip(start[rows].tolist(), end[rows].tolist(), strict=True)}
        first, grid_bounds = min(present), zip(starts.tolist(), ends.tolist(), strict=True)
        holes = [at for at, bounds in enumerate(grid_bounds) if bounds not in present and bounds > first]
        empty.append((np.full(len(holes), rows[0]), starts[holes], ends[holes]))
    owner, starts, ends = (np.concatenate(parts).astype(np.int64) for parts in zip(*empty, strict=True))
    return owner, starts, ends


def _closing(bound: Bound, window: str, end: Ints) -> dict[str, pa.Array]:
    """The batch that closes each window, by the watermarks of the ledger; and whether the window is open."""
    now = published(bound.store, window)
    watermarks_us = now.ledger.entries.watermark_us if now.ledger else now.starts
    closed = closing(bound.windows[window], watermarks_us).batch_of(end)
    starts = np.append(now.starts, 0)[closed]
    still_open = pa.array(closed == len(watermarks_us))
    batch = pc.if_else(still_open, pa.scalar(None, INSTANT), pa.array(starts).view(INSTANT))
    return {"batch": batch, "provisional": still_open}


def _of_spans(bound: Bound, window: str, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Keys, bounds and attributes of the spans of each key that are no row of a table of windows.

    Spans that ended before history began are left out; so are open spans, unless the table has open windows.
    `schema`: of the states, which have the types of keys.
    """
    keys, spans = bound.keys_of(window), bound.windows[window].spans  # type: ignore[attr-defined]
    key_rows = _keys(keys, spans, table, schema)
    first, behind = spans.of_keys(key_rows)
    owner, number = np.repeat(np.arange(len(key_rows)), behind - first), consecutive(first, behind - first)
    wanted = _there(bound, window, spans, open_too="provisional" in table.column_names)[number]
    owner, number = pa.array(owner[wanted]), pa.array(number[wanted])
    columns = {key: key_rows[key].take(owner) for key in keys}
    rows = pa.table(
        columns
        | {
            name: spans.table[name].take(number)
            for name in spans.table.column_names
            if name not in spans.keys
        }
    )
    return rows.filter(pa.array(_absent(rows, table)))


def _keys(keys: Sequence[str], spans: GivenSpans, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The keys of windows, and of spans with all key columns; a row without columns where the pipeline has no
    keys.
    """
    if not keys:
        return pa.table({"group": [0]})
    key_tables = [table.select(keys)] + ([spans.table.select(keys)] if {*spans.keys} == {*keys} else [])
    kinds = pa.schema([schema.field(key) for key in keys])
    return (
        pa.concat_tables([each.cast(kinds) for each in key_tables])
        .group_by(list(keys), use_threads=False)
        .aggregate([])
    )


def _there(bound: Bound, window: str, spans: GivenSpans, *, open_too: bool) -> np.ndarray:
    """Which spans are there, by the watermarks of the ledger."""
    now = published(bound.store, window)
    if now.ledger is None:
        return np.zeros(len(spans), np.bool_)
    watermarks_us = now.ledger.entries.watermark_us
    closed = closing(bound.windows[window], watermarks_us).batch_of(spans.end) < len(watermarks_us)
    return (spans.end > now.starts[0]) & (closed | (open_too & (spans.start < watermarks_us[-1])))


def _absent(rows: pa.Table, table: pa.Table) -> np.ndarray:
    """Which rows are not in a table."""
    both = [
        contiguous(pa.chunked_array([*rows[name].chunks, *table[name].cast(rows[name].type).chunks]))
        for name in rows.column_names
    ]
    codes: Ints = key_codes(both, len(rows) + len(table))
    return ~np.isin(codes[: len(rows)], codes[len(rows) :])
