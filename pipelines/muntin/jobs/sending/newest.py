"""The newest window of each key, for sinks that keep one row a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.jobs.published.changes_since import BEFORE_ALL_VERSIONS, changes_since
from muntin.states.frames import run_starts
from muntin.states.keys import codes_of
from muntin.states.order import sorted_order
from muntin.states.sorted import instants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints


def newest_changes(bound: Bound, window: str, rows: pa.Table) -> pa.Table:
    """Changes of windows as changes of the row that a key has: at most a row that is gone, and behind it the
    key's newest window.

    A key of which a window is gone gets what is published of it now. Of any other key the newest of its
    changed windows is enough, as long as the sink never puts an older window over a newer one. `rows`: as
    `changes_since` gives them.
    """
    keys = bound.keys_of(window)
    gone, there = (
        rows.filter(each) for each in (pc.equal(rows["change"], "gone"), pc.not_equal(rows["change"], "gone"))
    )
    if not len(gone):
        return newest(there, keys)
    now = changes_since(bound, window, BEFORE_ALL_VERSIONS).rows
    lost = newest(gone, keys)
    left = newest(now.filter(_is_among(now, lost, keys)), keys)
    others = newest(there.filter(pc.invert(_is_among(there, lost, keys))), keys)
    return pa.concat_tables([lost, left, others], promote_options="permissive")


def newest(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The window of each key that ends last; by arrival the last that fired."""
    if not len(rows):
        return rows
    codes, starts = _codes([rows], keys), instants(rows["window_start"])
    ends = (
        rows["window_index"].to_numpy()
        if "window_index" in rows.column_names
        else instants(rows["window_end"])
    )
    order = sorted_order(codes, ends, starts)
    lasts = np.append(np.flatnonzero(run_starts(codes[order]))[1:], len(order)) - 1
    return rows.take(pa.array(order[lasts]))


def _is_among(rows: pa.Table, others: pa.Table, keys: Sequence[str]) -> pa.Array:
    """Whether the key of each row is the key of another row, too."""
    codes = _codes([rows, others], keys)
    return pa.array(np.isin(codes[: len(rows)], codes[len(rows) :]))


def _codes(tables: Sequence[pa.Table], keys: Sequence[str]) -> Ints:
    both = pa.concat_tables([table.select(list(keys)) for table in tables], promote_options="permissive")
    return codes_of(both, keys)
