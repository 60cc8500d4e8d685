"""Empty windows: windows of the grid between a key's first and last window, or spans of a table, that hold no
event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.given_spans import GivenSpans
from muntin.engine.repeats import consecutive
from muntin.errors import DefinitionError
from muntin.jobs.inspect.selection import Selection
from muntin.jobs.published.window_tables import published
from muntin.jobs.schema_check.derive_expressions import derived, of_nothing
from muntin.jobs.state.bound import Bound
from muntin.states.columns import INSTANT
from muntin.states.frames import Ints, run_starts
from muntin.states.keys import codes_of, contiguous, key_codes
from muntin.states.sorted import instants
from muntin.timeline.closing import closing

_MOST = 20_000_000  # rows: some gigabytes


def with_empty(bound: Bound, window: str, table: pa.Table, chosen: Selection) -> pa.Table:
    """The table with its empty windows: of the grid, between each key's first and last window; or of the
    spans of each key. `chosen`: the stretch of time that is asked for; windows outside of it may be left out.

    Raises:
        DefinitionError: they are too many for a table.
    """
    schema, kind = bound.store.snapshot(bound.frames_of(window).table).schema, bound.windows[window]
    if schema is None or (kind.grid and not len(table)):
        return table
    bounds = (
        _of_grid(bound.keys_of(window), window, kind, table, chosen)
        if kind.grid
        else _of_spans(bound, window, table, schema)
    )
    bounds = bounds.filter(pa.array(_absent(bounds, table)))
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


def _of_grid(
    keys: Sequence[str],
    window: str,
    kind: Any,  # noqa: ANN401 - of any class: it has a grid
    table: pa.Table,
    chosen: Selection,
) -> pa.Table:
    """Keys and bounds of all windows of a grid from each key's first window to its last."""
    codes = codes_of(table, keys)
    start, end = (instants(table[name].cast(INSTANT)) for name in ("window_start", "window_end"))
    order = np.lexsort((end, start, codes))
    heads = np.flatnonzero(run_starts(codes[order]))
    first, last = order[heads], np.maximum.reduceat(end[order], heads)
    low, high = chosen.between_us()
    lows = np.maximum(start[first], low)
    highs = np.maximum(lows, np.minimum(last, high))
    _check_few(window, _windows_in(kind, lows, highs))
    grids = [kind.grid(*each) for each in zip(lows.tolist(), highs.tolist(), strict=True)]
    row = np.repeat(first, [len(starts) for starts, _ in grids])
    starts, ends = (np.concatenate(parts).astype(np.int64) for parts in zip(*grids, strict=True))
    later = (starts > start[row]) | (ends > end[row])
    columns = {key: table[key].take(pa.array(row[later])) for key in keys}
    bounds = {"window_start": starts[later], "window_end": ends[later]}
    return pa.table(columns | {name: pa.array(value).view(INSTANT) for name, value in bounds.items()})


def _windows_in(kind: Any, lows: Ints, highs: Ints) -> int:  # noqa: ANN401 - as above
    """About how many windows of a grid lie in some stretches, by the windows of a short stretch."""
    short = 2 * kind.follows.longest_us
    starts, _ = kind.grid(int(lows[0]), int(lows[0]) + short)
    return int(len(starts) / short * (highs - lows).sum(dtype=np.float64))


def _check_few(window: str, count: int) -> None:
    if count > _MOST:
        raise DefinitionError(
            f"dense: {window!r} has about {count:,} windows between the first and the last of its keys, and a"
            f" table holds at most {_MOST:,} with the empty windows; read a shorter stretch (start, end) or"
            " fewer keys (keys), or leave the empty windows out (dense=False)"
        )


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
    """Keys, bounds and attributes of the spans of each key.

    Spans that ended before history began are left out; so are open spans, unless the table has open windows.
    `schema`: of the states, which have the types of keys.
    """
    keys, spans = bound.keys_of(window), bound.windows[window].spans  # type: ignore[attr-defined]
    key_rows = _keys(keys, spans, table, schema)
    first, behind = spans.of_keys(key_rows)
    _check_few(window, int((behind - first).sum()))
    owner, number = np.repeat(np.arange(len(key_rows)), behind - first), consecutive(first, behind - first)
    wanted = _there(bound, window, spans, open_too="provisional" in table.column_names)[number]
    owner, number = pa.array(owner[wanted]), pa.array(number[wanted])
    columns = {key: key_rows[key].take(owner) for key in keys}
    of_spans = [name for name in spans.table.column_names if name not in spans.keys]
    return pa.table(columns | {name: spans.table[name].take(number) for name in of_spans})


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
