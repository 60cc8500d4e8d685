"""Late: the batches with rows that came too late for windows, and the states of the late rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL, from_us
from muntin.definition.kinds import Bounded
from muntin.jobs.finalize.finalize_task import combined_shard
from muntin.jobs.finalize.shard import shards
from muntin.jobs.inspect.unknown import no_window
from muntin.jobs.published.as_defined import check_as_defined
from muntin.jobs.published.given_tables import as_readers_know
from muntin.jobs.published.pending import pending_window
from muntin.jobs.published.window_tables import published
from muntin.jobs.state.state_folders import bind_existing
from muntin.states.columns import BATCH_POSITION, FRAME, INSTANT
from muntin.store.shared_files import within
from muntin.timeline.work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.finalize.shard import Shard
    from muntin.jobs.published.pending import Pending


@dataclass(frozen=True, slots=True)
class LateBatch:
    """A batch with late rows.

    `rows`: how many came too late for at least one window; `windows`: how many they missed, summed over rows.
    """

    window: str
    batch: datetime
    rows: int
    windows: int


def late(pipeline: Pipeline, window: str | None = None, *, root: str | AnyPath) -> list[LateBatch]:
    """The batches with late rows for one window of the pipeline, or for each of them, as the ledgers say."""
    names = _windows(pipeline, window)
    bound = bind_existing(pipeline, root)
    for name in names:
        check_as_defined(bound, name)
    ledgers = {name: now.ledger.entries for name in names if (now := published(bound.store, name)).ledger}
    return [
        LateBatch(name, from_us(int(entries.start_us[at])), int(entries.late[at]), int(entries.missed[at]))
        for name, entries in ledgers.items()
        for at in np.flatnonzero(entries.late)
    ]


def late_states(pipeline: Pipeline, window: str, *, root: str | AnyPath) -> pa.Table:
    """The states that came too late for some of a window's windows, from the checkpoint as it is.

    Key columns, frame (its start), batch (start of its interval), rows, and windows (how many windows each
    row missed).
    """
    _windows(pipeline, window)
    keys = pipeline.keys_of(window)
    bound = as_readers_know(bind_existing(pipeline, root))
    if pipeline.windows[window].made_of.by_arrival:
        return _no_states(keys)
    pending = pending_window(bound, window)
    names = [*keys, FRAME, "batch", "rows", "windows"]
    tables = [_late_of(pipeline, pending, shard) for shard in shards(bound, _everything(pending), "")]
    if not tables:
        return _no_states(keys)
    table = pa.concat_tables(tables).select(names)
    return table.sort_by([(name, "ascending") for name in ("batch", *keys, FRAME)])


def _no_states(keys: Sequence[str]) -> pa.Table:
    names = [*keys, FRAME, "batch", "rows", "windows"]
    return pa.table(
        {name: pa.array([], INSTANT if name in (FRAME, "batch") else pa.int64()) for name in names}
    )


def _windows(pipeline: Pipeline, window: str | None) -> list[str]:
    if window is not None and window not in pipeline.windows:
        raise no_window(pipeline, window)
    return [window] if window else [*pipeline.windows]


def _everything(pending: Pending) -> Pending:
    """The work of reading all states of the history; of the windows it gives the open windows alone, since no
    window is asked for.
    """
    return replace(pending, work=Work(np.array([len(pending.history.batches)]), BEFORE_ALL, AFTER_ALL))


def _late_of(pipeline: Pipeline, pending: Pending, shard: Shard) -> pa.Table:
    if (
        isinstance(pipeline.windows[pending.window].follows, Bounded)
        and pending.published.ledger
        and not pending.work
    ):
        # Whether a state is late depends on no other state here: the batches with late rows are enough.
        entries = pending.published.ledger.entries
        counted = entries.start_us[entries.late > 0]
        shard = replace(shard, files=[path for path in shard.files if len(within(counted, path))])
    combined = combined_shard(shard)
    missed = combined.assignment.missed
    rows = np.flatnonzero(missed > 0)
    states = combined.states.take(pa.array(rows))
    batch = pa.array(pending.history.batches.start_us[states[BATCH_POSITION].to_numpy()]).view(INSTANT)
    late_rows = states.select([*pipeline.keys_of(pending.window), FRAME, "rows"])
    return late_rows.append_column("batch", batch).append_column("windows", pa.array(missed[rows]))
