"""The windows of spans in which a key has no event, for windows given by a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.engine.repeats import consecutive
from muntin.jobs.published.window_tables import published
from muntin.states.keys import contiguous, key_codes
from muntin.timeline.closing import closing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.engine.given_spans import GivenSpans
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints


def empty_spans(bound: Bound, window: str, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Keys, bounds and attributes of the spans of each key that are no row of a table.

    Spans that ended before history began are left out; so are open spans, unless the table has open windows.

    Args:
        bound, window: the pipeline state, the window's name.
        table: the windows that have events.
        schema: of the states, which have the types of keys.
    """
    keys, spans = bound.keys_of(window), bound.windows[window].spans  # type: ignore[attr-defined]
    key_rows = _keys(keys, spans, table, schema)
    first, behind = spans.of_keys(key_rows)
    owner, number = np.repeat(np.arange(len(key_rows)), behind - first), consecutive(first, behind - first)
    wanted = _there(bound, window, spans, open_too="provisional" in table.column_names)[number]
    owner, number = pa.array(owner[wanted]), pa.array(number[wanted])
    columns = {key: key_rows[key].take(owner) for key in keys}
    rows = pa.table(columns | {name: spans.table[name].take(number) for name in spans.table.column_names if name not in spans.keys})
    return rows.filter(pa.array(_absent(rows, table)))


def _keys(keys: Sequence[str], spans: GivenSpans, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The keys of windows, and of spans with all key columns; a row without columns where the pipeline has no keys."""
    if not keys:
        return pa.table({"group": [0]})
    key_tables = [table.select(keys)] + ([spans.table.select(keys)] if {*spans.keys} == {*keys} else [])
    kinds = pa.schema([schema.field(key) for key in keys])
    return pa.concat_tables([each.cast(kinds) for each in key_tables]).group_by(list(keys), use_threads=False).aggregate([])


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
    both = [contiguous(pa.chunked_array([*rows[name].chunks, *table[name].cast(rows[name].type).chunks])) for name in rows.column_names]
    codes: Ints = key_codes(both, len(rows) + len(table))
    return ~np.isin(codes[: len(rows)], codes[len(rows) :])
