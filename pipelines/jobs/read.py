"""Read what was published, and look at what is still open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable

from pipelines.errors import DefinitionError
from pipelines.jobs.finalize_task import combined_shard
from pipelines.jobs.shards import shards
from pipelines.jobs.todo import to_do
from pipelines.store.delta import DeltaStore
from pipelines.store.state import state_folder
from pipelines.timeline.closing import NEVER
from pipelines.timeline.reconcile import FOREVER, Work

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.definition.pipeline import Pipeline
    from pipelines.store.store import Store

_INSTANT = pa.timestamp("us", tz="UTC")


def read(pipeline: Pipeline, window: str, *, root: str | Path, provisional: bool = False) -> pa.Table:
    """The published windows, sorted by keys, start and end.

    Args:
        pipeline: the definition.
        window: the name of one of its windows.
        root: folder that state lives below.
        provisional: whether to add the windows that are not published yet, computed from the checkpoint as it is.

    Returns:
        key columns, window_start, window_end (timestamp us UTC), the aggregates in the order of the definition, batch
        (start of the interval that closed it; null while none has), and, if asked, provisional (bool).

    Raises:
        DefinitionError: the pipeline has no such window.
    """
    if window not in pipeline.windows:
        raise DefinitionError(f"no window {window!r} in pipeline {pipeline.name!r}; there are {', '.join(pipeline.windows)}")
    store = DeltaStore(state_folder(pipeline, root))
    table = _shaped(pipeline, _published(store, window))
    if provisional:
        more = _shaped(pipeline, _open(pipeline, store, window))
        flags = pa.array([False] * len(table) + [True] * len(more), pa.bool_())
        table = pa.concat_tables([table, more], promote_options="permissive").append_column("provisional", flags)
    order = [(name, "ascending") for name in (*pipeline.keys, "window_start", "window_end")]
    return table.sort_by(order).combine_chunks()


def _published(store: Store, window: str) -> pa.Table:
    table = f"windows/{window}"
    if store.snapshot(table).version < 0:
        return _nothing()
    return DeltaTable(f"{store.root}/{table}").to_pyarrow_table()


def _shaped(pipeline: Pipeline, table: pa.Table) -> pa.Table:
    """The columns in their order; those that nothing is known of yet are null."""
    names = [*pipeline.keys, "window_start", "window_end", *pipeline.aggregates, "batch"]
    return pa.table({name: table[name] if name in table.column_names else pa.nulls(len(table)) for name in names})


def _open(pipeline: Pipeline, store: Store, window: str) -> pa.Table:
    """The windows of history that are not published: open ones, and those that wait for a finalize."""
    todo = next(one for one in to_do(pipeline, store, []) if one.window == window)
    batches = todo.history.batches
    if not batches:
        return _nothing()
    known = todo.published.ledger.by_start() if todo.published.ledger else {}
    fresh = tuple(at for at, batch in enumerate(batches) if batch.interval.start_us not in known)
    todo = replace(todo, work=Work((*fresh, len(batches)), NEVER, FOREVER))
    found = [combined_shard(shard).windows for shard in shards(pipeline, store.root, todo, "")]
    if not found:
        return _nothing()
    table = pa.concat_tables(found)
    return table.append_column("batch", pa.nulls(len(table), _INSTANT))


def _nothing() -> pa.Table:
    return pa.table({name: pa.array([], _INSTANT) for name in ("window_start", "window_end", "batch")})
