"""The windows of one key, derived from the states of this key alone: row groups of other keys and other times
are skipped.

The work for windows that are not published: of batches that wait for a finalize, and open windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Bounded, Carried, Chained
from muntin.errors import DefinitionError
from muntin.jobs.finalize.shard import shards
from muntin.jobs.published.pending import Pending
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BUCKET
from muntin.states.frames import Ints
from muntin.states.keys import buckets
from muntin.store.contents import problems_of_notes
from muntin.timeline.carried import from_note
from muntin.timeline.closing import closing
from muntin.timeline.history import Work
from muntin.windows.kind import Window

if TYPE_CHECKING:
    from muntin.engine.windows import Combined

ALL_US = (BEFORE_ALL, AFTER_ALL)


def combined_of_key(
    bound: Bound, todo: Pending, key: Sequence[Any], within_us: tuple[int, int] = ALL_US
) -> list[Combined]:
    """The windows of a key, closed and open, from the checkpoint as it is. If windows do not keep keys apart:
    the windows of all keys.

    Only frames that start in `within_us`, `[low, high)`, are read; a window is whole if all its frames are.
    """
    count = len(todo.history.batches)
    work = Work(np.arange(count + 1), *within_us, since=0 if within_us == ALL_US else count)
    schema, apart = todo.states.schema, bound.windows[todo.window].made_of.apart
    keys = bound.keys_of(todo.window)
    only = (
        states_of_key(keys, key, schema, apart=keys == tuple(bound.pipeline.keys))
        if apart and schema is not None
        else None
    )
    key_shards = shards(bound, replace(todo, work=work), "")
    if only is not None:
        key_shards = [replace(shard, number=0, count=1, only=only) for shard in key_shards[:1]]
    from muntin.jobs.finalize.finalize_task import combined_shard  # and the engine

    return [combined_shard(shard) for shard in key_shards]


def one_row_each(bound: Bound, window: str) -> Bound:
    """The same pipeline with one row for every window, where lists come out as rows."""
    if not bound.windows[window].rows_out:
        return bound
    kinds = {**bound.pipeline.windows, window: bound.windows[window].one_row_each()}
    return replace(bound, pipeline=replace(bound.pipeline, windows=kinds))


def around_us(kind: Window, width_us: int, at_us: int) -> tuple[int, int]:
    """The frames that windows over an instant can be made of; all of them for kinds whose windows have no
    greatest length.
    """
    if not isinstance(kind.follows, Bounded):
        return ALL_US
    reach = kind.follows.reach_us + kind.beyond_us + width_us
    return at_us - reach, at_us + reach


def frames_from(kind: Window, width_us: int, low_us: int) -> tuple[int, int]:
    """The frames of windows that end after an instant; all of them for kinds whose windows have no greatest
    length.
    """
    return around_us(kind, width_us, low_us)[0], AFTER_ALL


def rows_of_key(table: pa.Table, names: Sequence[str], key: Sequence[Any]) -> np.ndarray:
    """Whether each row of a table is of a key."""
    mask = np.ones(len(table), np.bool_)
    for name, value in zip(names, key, strict=True):
        kind = table.schema.field(name).type
        own = pa.table({name: table[name], "at": np.arange(len(table))}).filter(
            is_key(pc.field(name), value_of(name, value, kind))
        )
        mask &= np.isin(np.arange(len(table)), own["at"].to_numpy())
    return mask


def states_of_key(
    names: Sequence[str], key: Sequence[Any], schema: pa.Schema, *, apart: bool = True
) -> pc.Expression | None:
    """The condition on the states of a key; None without key columns.

    `apart`: whether they lie in one bucket; of a rollup they do not.
    """
    if not names or not {*names, BUCKET} <= set(schema.names):
        return None
    values = [value_of(name, value, schema.field(name).type) for name, value in zip(names, key, strict=True)]
    bucket = buckets([pa.array([value.as_py()], value.type) for value in values], 1)
    conditions = [is_key(pc.field(name), value) for name, value in zip(names, values, strict=True)]
    return reduce(and_, [pc.field(BUCKET) == pa.scalar(bucket[0]), *conditions] if apart else conditions)


def value_of(name: str, value: Any, kind: pa.DataType) -> pa.Scalar:  # noqa: ANN401 - a key's value, or the text of it
    """A value, or its text, as one of a column; DefinitionError if it cannot be."""
    try:
        return pa.scalar(None, kind) if value is None else pa.scalar(value).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise DefinitionError(f"keys: {value!r} cannot be read as {kind}, which {name!r} is") from None


def is_key(column: pc.Expression, value: pa.Scalar) -> pc.Expression:
    """Whether a column has a value; null and NaN are values as any other."""
    if not value.is_valid:
        return column.is_null()
    if pa.types.is_floating(value.type) and value.as_py() != value.as_py():
        return pc.is_nan(column)
    return column == value


def unpublished_work(bound: Bound, todo: Pending, since: int | None = None) -> Work:
    """Batches that windows were never derived from, and, one past the last, what is open; from states that
    such windows may hold.

    `todo`: its history may end before the last published batch: windows that were open then. `since`: from
    this batch on windows are derived, published or not.
    """
    batches = todo.history.batches
    new = ~np.isin(batches.start_us, todo.published.starts)
    new[len(batches) if since is None else since :] = True
    positions = np.append(np.flatnonzero(new), len(batches))
    first = min(int(todo.work.positions[0]) if todo.work else len(batches), int(positions[0]))
    if isinstance(bound.windows[todo.window].follows, Carried):
        return _behind_a_note(bound, todo, positions, first)
    since = int(positions[0])
    return Work(positions, _low_us(bound, todo, since, first), AFTER_ALL, since)


def _low_us(bound: Bound, todo: Pending, position: int, first: int) -> int:
    """The start of the first frame that windows which a batch closes, or a later one, may hold.

    `first`: the first changed batch.
    """
    kind, ledger = bound.windows[todo.window], todo.published.ledger
    width_us = bound.frames_of(todo.window).width_us
    if not isinstance(kind.follows, Chained):
        return frames_from(kind, width_us, int(closing(kind, todo.watermarks_us).floor[position]))[0]
    if ledger is None or not 0 < position <= first:
        return BEFORE_ALL
    at = int(ledger.entries.position(todo.history.batches.start_us[position - 1 : position])[0])
    open_us = int(ledger.entries.open_us[at]) if at >= 0 else BEFORE_ALL
    return open_us if open_us in (BEFORE_ALL, AFTER_ALL) else open_us // width_us * width_us


def _behind_a_note(bound: Bound, todo: Pending, positions: Ints, first: int) -> Work:
    """The work behind the last note before a batch that is whole."""
    ledger = todo.published.ledger
    while True:
        work = from_note(len(todo.history.batches), ledger, positions, first)
        if ledger is None or not problems_of_notes(bound.folder, work.note):
            return work
        ledger = ledger.without_note(work.note)
