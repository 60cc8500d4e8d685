"""Read published windows, and windows that are still open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import AFTER_ALL
from muntin.definition.pipeline import Pipeline
from muntin.errors import DefinitionError
from muntin.files.paths import AnyPath
from muntin.jobs.inspect.one_key import unpublished_work
from muntin.jobs.inspect.selection import Selection, no_window
from muntin.jobs.published.as_defined import as_readers_know, check_as_defined, check_live
from muntin.jobs.published.changes_since import at_version, changes_since
from muntin.jobs.published.lost_commits import check_no_lost_commits
from muntin.jobs.published.pending import Pending, pending_window
from muntin.jobs.published.revisions import CHANGE, OLD, REVISION
from muntin.jobs.published.window_tables import Published
from muntin.jobs.records.lost_publications import check_published
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.upkeep.rebuild import check_rebuilt
from muntin.states.columns import INSTANT
from muntin.states.derived_columns import with_types
from muntin.store.reading import read_files


def read(
    pipeline: Pipeline,
    window: str,
    *,
    root: str | AnyPath,
    provisional: bool = False,
    dense: bool | None = None,
    columns: Sequence[str] | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
    keys: Mapping[str, Any] | None = None,
    changes_since: int | None = None,
) -> pa.Table:
    """The published windows, sorted by keys, start and end; windows by arrival by keys and window_index.

    `sql` queries the same rows by the names of windows; `muntin status --paths` says how other tools read the
    tables, which hold neither the empty windows of dense=True nor this order.

    The metadata of the table's schema has `muntin.version`: the version of the window's Delta table, to ask
    later what changed since.

    Args:
        pipeline: the definition.
        window: the name of one of its windows.
        root: folder that state lives below.
        provisional: whether to add the windows that are not published yet, computed from the checkpoint as it
            is.
        dense: whether to add the empty windows between a key's first and its last; as the window's definition
            says unless given. Counts of empty windows are 0, everything else is null.
        columns: the columns to give, in this order; all of them unless given. Only these are read.
        start: only windows that start at or after it, an aware datetime.
        end: only windows that end at or before it, an aware datetime.
        keys: only windows of these keys: key column -> a value or a list of values; None is null.
        changes_since: a version of the window's table: only the windows that readers know otherwise since,
            the columns revision (int64, the version that brought the row), change ("new", "changed",
            "gone") and the earlier values (as `old_revenue`) in place of batch. -1: all, as new.

    Returns:
        key columns, window_start, window_end (timestamp us UTC), further columns of the kind of window, the
        aggregates and what is derived of them in the order of the definition, batch (start of the interval
        that closed it; null while none has), and, if asked, provisional (bool).

    Raises:
        DefinitionError: the pipeline has no such window, column or key; or a window was asked to be dense
            that has no grid, has a having or too many windows, or whose definition must say so, since values
            last to windows without events (`carry=`).
        VersionGoneError: commits or files since `changes_since` are removed; the text says from which version
            on changes are known.
        StateError: the definition has changed what states hold, and nothing is rebuilt yet.
    """
    if window not in pipeline.windows:
        raise no_window(pipeline, window)
    bound = as_readers_know(bind(pipeline, root))
    kind = bound.windows[window]
    if dense and kind.grid is None and kind.given_by is None:
        raise DefinitionError(
            f"dense: {window!r} has no grid that could have holes; tumbling, sliding and cumulating windows"
            " have one, and windows given by a table have its spans"
        )
    if dense and kind.having is not None:
        raise DefinitionError(
            f"dense: {window!r} has a having, so that a hole may be a hidden window, which is not empty;"
            " leave dense out"
        )
    chosen = Selection(columns, start, end, keys)
    if changes_since is not None:
        return _changes(bound, window, changes_since, chosen, more=bool(provisional or dense))
    chosen.check(
        (*columns_of(pipeline, window), *(["provisional"] if provisional else [])), bound.keys_of(window)
    )
    filled = (kind.grid is not None or kind.given_by is not None) and (kind.dense if dense is None else dense)
    if filled and not kind.dense:
        check_nothing_lasts(pipeline, window)
    check_rebuilt(bound, window)
    todo = pending_window(bound, window)  # what is published and what is open are read from one snapshot
    check_published(bound, todo)
    on_disk = Selection(keys=keys) if filled else chosen
    needed = _needed(pipeline, window, columns)
    schema = todo.published.snapshot.schema
    conditions = [
        each for each in (on_disk.of_keys(schema or pa.schema([])), on_disk.of_time()) if each is not None
    ]
    table = shaped(
        pipeline,
        window,
        published_windows(bound, todo.published, reduce(and_, conditions) if conditions else None, needed),
    )
    if provisional:
        more = shaped(pipeline, window, unpublished(bound, todo))
        more = on_disk.filtered(more)
        flags = pa.array([False] * len(table) + [True] * len(more), pa.bool_())
        table = pa.concat_tables(
            [with_types(table, more.schema), more], promote_options="permissive"
        ).append_column("provisional", flags)
    if filled:
        from muntin.jobs.inspect.dense import with_empty

        table = chosen.filtered(with_empty(bound, window, table, chosen))
    order = [(name, "ascending") for name in dict.fromkeys((*bound.keys_of(window), *kind.order))]
    table = table.sort_by(order).combine_chunks()
    return at_version(
        table.select(list(columns)) if columns is not None else table, todo.published.snapshot.version
    )


def check_nothing_lasts(pipeline: Pipeline, window: str) -> None:
    """Refuse to take windows for empty that values may last to (`carry=`): they are derived where the
    definition asks for them.
    """
    lasting = [name for name, each in pipeline.row_aggregates.items() if each.carry]
    if lasting:
        raise DefinitionError(
            f"dense: values of {lasting[0]!r} last to windows without events (carry=), and {window!r} is"
            " derived without these; "
            f'say dense=True in its definition, as windows={{"{window}": windows.tumbling("1h", dense=True)}}'
        )


def _changes(bound: Bound, window: str, since: int, chosen: Selection, *, more: bool) -> pa.Table:
    """The live windows that changed since a version.

    `more`: whether open or empty windows were asked for, too.
    """
    if more:
        raise DefinitionError(
            "changes_since: open windows and empty ones have no version; leave provisional and dense out"
        )
    results = bound.pipeline.results
    own, old = columns_of(bound.pipeline, window)[:-1], [OLD + name for name in results]
    if double := sorted({*own} & {*old}):
        raise DefinitionError(
            f"changes_since: {window!r} has a column {double[0]!r}, which is also the name of earlier values;"
            " give the key or result of this name another"
        )
    chosen.check([*own, REVISION, CHANGE, *old], bound.keys_of(window))
    changes = changes_since(bound, window, since, old=results)
    check_as_defined(bound, window)
    check_live(bound, window)
    rows = chosen.filtered(changes.rows)
    return at_version(rows if chosen.columns is None else rows.select(list(chosen.columns)), changes.version)


def _needed(pipeline: Pipeline, window: str, columns: Sequence[str] | None) -> set[str] | None:
    """The columns to read: the columns asked for and the columns that order windows; None is all."""
    order = pipeline.windows[window].order  # type: ignore[attr-defined]
    return (
        None
        if columns is None
        else {*columns, *pipeline.keys_of(window), "window_start", "window_end", *order}
    )


def published_windows(
    bound: Bound, now: Published, condition: pc.Expression | None, needed: set[str] | None = None
) -> pa.Table:
    """The published windows that meet a condition.

    Row groups of other times are skipped, and columns that are not needed.
    """
    table, snapshot = bound.table(now.table), now.snapshot
    if snapshot.schema is None:
        return _nothing()
    columns = [name for name in snapshot.schema.names if needed is None or name in needed]
    return read_files(table, snapshot, columns, condition)


def shaped(pipeline: Pipeline, window: str, table: pa.Table) -> pa.Table:
    """The columns in their order; columns of which nothing is known yet are null."""
    names = columns_of(pipeline, window)
    return pa.table(
        {name: table[name] if name in table.column_names else pa.nulls(len(table)) for name in names}
    )


def columns_of(pipeline: Pipeline, window: str) -> list[str]:
    """The columns of a window's table."""
    names = [*pipeline.keys_of(window), "window_start", "window_end", *pipeline.windows[window].columns]
    return [*names, *pipeline.results, "batch"]


def unpublished(bound: Bound, todo: Pending, since: int | None = None) -> pa.Table:
    """The windows of history that are not published: open windows, and windows that wait for a finalize.

    `batch` is null. `since`: as of `unpublished_work`; windows of published batches have their `batch`.
    """
    check_no_lost_commits(bound)
    if not len(todo.history.batches):
        return _nothing()
    from muntin.jobs.finalize.finalize_task import combined_shard
    from muntin.jobs.finalize.shard import shards

    todo = replace(todo, work=unpublished_work(bound, todo, since))
    parts = [combined_shard(shard).published() for shard in shards(bound, todo, "")]
    if not parts:
        return _nothing()
    table, closed = (
        pa.concat_tables([windows for windows, _ in parts]),
        np.concatenate([at for _, at in parts]),
    )
    batches = np.append(todo.history.batches.start_us, AFTER_ALL)[closed]
    waits = ~np.isin(batches, todo.published.starts)
    return table.append_column("batch", pa.array(batches, mask=waits).view(INSTANT))


def _nothing() -> pa.Table:
    return pa.table({name: pa.array([], INSTANT) for name in ("window_start", "window_end", "batch")})
