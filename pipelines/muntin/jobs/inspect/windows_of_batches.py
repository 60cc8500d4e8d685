"""The published windows that some batches closed: a new reading of the batches may change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds

from muntin.definition.instants import instant_us
from muntin.jobs.inspect.newest_rows import newest_rows
from muntin.jobs.published.window_tables import published
from muntin.states.columns import BATCH, INSTANT
from muntin.store.paths import batches_of_windows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from muntin.jobs.state.bound import Bound


def windows_of_batches(bound: Bound, window: str, starts: Sequence[datetime], *, limit: int) -> pa.Table:
    """Some of the windows that batches with given starts closed, the newest first.

    Returns:
        columns of the window's table; no rows where nothing is published.

    Raises:
        StateError: a file is gone.
    """
    now, wanted = published(bound.store, window), pa.array([instant_us(start, "batch") for start in starts], pa.int64()).cast(INSTANT)
    if now.snapshot.schema is None or not limit:
        return (now.snapshot.schema or pa.schema([])).empty_table()
    order = dict.fromkeys((*bound.keys_of(window), *bound.windows[window].order))
    condition = ds.field(BATCH).isin(wanted)
    return newest_rows(bound.table(now.table), now.snapshot, batches_of_windows, limit=limit, condition=condition, order=[*order]).rows
