"""Read what was published, and look at what is still open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable

from pipelines.engine.frames import INSTANT
from pipelines.errors import DefinitionError
from pipelines.jobs.dense import with_empty
from pipelines.jobs.finalize_task import combined_shard
from pipelines.jobs.rebuild import check_rebuilt
from pipelines.jobs.shards import shards
from pipelines.jobs.todo import to_do
from pipelines.store.delta import DeltaStore
from pipelines.store.state import state_folder
from pipelines.timeline.carry import from_note
from pipelines.timeline.closing import NEVER
from pipelines.timeline.work import FOREVER, Work
from pipelines.windows import Gridded

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.definition.pipeline import Pipeline
    from pipelines.jobs.todo import Todo
    from pipelines.store.store import Store


def read(pipeline: Pipeline, window: str, *, root: str | Path, provisional: bool = False, dense: bool | None = None) -> pa.Table:
    """The published windows, sorted by keys, start and end; windows by arrival by keys and window_index.

    Args:
        pipeline: the definition.
        window: the name of one of its windows.
        root: folder that state lives below.
        provisional: whether to add the windows that are not published yet, computed from the checkpoint as it is.
        dense: whether to add the empty windows between a key's first and its last; as the window's definition says
            unless given. Counts of empty windows are 0, everything else is null.

    Returns:
        key columns, window_start, window_end (timestamp us UTC), what the kind of window says beside, the aggregates and
        what is derived of them in the order of the definition, batch (start of the interval that closed it; null while
        none has), and, if asked, provisional (bool).

    Raises:
        DefinitionError: the pipeline has no such window, or one without a grid was asked to be dense.
        StateError: the definition has changed what states hold, and nothing is rebuilt yet.
    """
    if window not in pipeline.windows:
        raise DefinitionError(f"no window {window!r} in pipeline {pipeline.name!r}; there are {', '.join(pipeline.windows)}")
    kind = pipeline.windows[window]
    if dense and not isinstance(kind, Gridded):
        raise DefinitionError(f"dense: {window!r} has no grid that could have holes; tumbling, sliding and cumulating windows have one")
    check_rebuilt(pipeline, window, root)
    store = DeltaStore(state_folder(pipeline, root))
    table = _shaped(pipeline, window, _published(store, window))
    if provisional:
        more = _shaped(pipeline, window, _open(pipeline, store, window))
        flags = pa.array([False] * len(table) + [True] * len(more), pa.bool_())
        table = pa.concat_tables([table, more], promote_options="permissive").append_column("provisional", flags)
    if isinstance(kind, Gridded) and (dense if dense is not None else getattr(kind, "dense", False)):
        table = with_empty(pipeline, store, kind, window, table)
    by = ("window_index", *kind.columns) if kind.by_arrival else ("window_start", "window_end")
    order = [(name, "ascending") for name in dict.fromkeys((*pipeline.keys, *by))]
    return table.sort_by(order).combine_chunks()


def _published(store: Store, window: str) -> pa.Table:
    table = f"windows/{window}"
    if store.snapshot(table).version < 0:
        return _nothing()
    return DeltaTable(f"{store.root}/{table}").to_pyarrow_table()


def _shaped(pipeline: Pipeline, window: str, table: pa.Table) -> pa.Table:
    """The columns in their order; those that nothing is known of yet are null."""
    names = [*pipeline.keys, "window_start", "window_end", *pipeline.windows[window].columns]
    names += [*pipeline.aggregates, *pipeline.derive, "batch"]
    return pa.table({name: table[name] if name in table.column_names else pa.nulls(len(table)) for name in names})


def _open(pipeline: Pipeline, store: Store, window: str) -> pa.Table:
    """The windows of history that are not published: open ones, and those that wait for a finalize."""
    todo = next(one for one in to_do(pipeline, store, []) if one.window == window)
    if not todo.history.batches:
        return _nothing()
    todo = replace(todo, work=_unpublished(pipeline, todo))
    found = [combined_shard(shard).windows for shard in shards(pipeline, store.root, todo, "")]
    if not found:
        return _nothing()
    table = pa.concat_tables(found)
    return table.append_column("batch", pa.nulls(len(table), INSTANT))


def _unpublished(pipeline: Pipeline, todo: Todo) -> Work:
    """Batches that windows were never derived from, and, one past the last, what is open."""
    batches, ledger = todo.history.batches, todo.published.ledger
    known = ledger.by_start() if ledger else {}
    fresh = [at for at, batch in enumerate(batches) if batch.interval.start_us not in known]
    positions = (*fresh, len(batches))
    if not pipeline.windows[todo.window].carries:
        return Work(positions, NEVER, FOREVER)
    stale = todo.work.positions[0] if todo.work.positions else len(batches)
    return from_note(batches, ledger, positions, min(stale, positions[0]))


def _nothing() -> pa.Table:
    return pa.table({name: pa.array([], INSTANT) for name in ("window_start", "window_end", "batch")})
