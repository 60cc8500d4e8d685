"""Diff: the live windows against the windows of a changed definition, before anything is promoted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.pipeline import Pipeline
from muntin.errors import DefinitionError, StateError
from muntin.files.paths import AnyPath
from muntin.files.readable import opened
from muntin.jobs.inspect.selection import no_window
from muntin.jobs.published.changes import Changes, compared
from muntin.jobs.published.pending import pending_window
from muntin.jobs.published.window_files import key_columns
from muntin.jobs.published.window_tables import Published, current, published
from muntin.jobs.state.bound import Bound, bind
from muntin.states.columns import BATCH
from muntin.store.delta import DeltaStore
from muntin.store.paths import batches_of_windows, folder_of
from muntin.store.reading import read_files
from muntin.store.state import NO_STATES, OWNER_FILE
from muntin.timeline.history import Work


@dataclass(frozen=True, slots=True)
class Difference:
    """How the windows of one name differ between two definitions.

    Attributes:
        window: its name.
        before, after: how many windows there are.
        unread_batches: how many batches of the first definition the second has not read yet.
        new_columns, gone_columns: the results that only one definition has.
        retyped_columns: the results that have another type, and are not compared.
        changes: the windows that differ in what both have.
        largest: result -> the largest change of a number, and the window in which it is.
    """

    window: str
    before: int
    after: int
    unread_batches: int
    new_columns: tuple[str, ...]
    gone_columns: tuple[str, ...]
    retyped_columns: tuple[str, ...]
    changes: Changes
    largest: Mapping[str, tuple[float, Mapping[str, Any]]]

    def counted(self) -> dict[str, int]:
        return {kind: self.changes.kinds.count(kind) for kind in ("new", "gone", "changed")}

    def to_dict(self) -> dict[str, Any]:
        """The diff as JSON has it, without the windows themselves."""
        largest = {
            name: {"change": change, "window": dict(where)} for name, (change, where) in self.largest.items()
        }
        plain = {
            "window": self.window,
            "before": self.before,
            "after": self.after,
            "lacking": self.unread_batches,
        }
        columns = {
            "new_columns": [*self.new_columns],
            "gone_columns": [*self.gone_columns],
            "retyped_columns": [*self.retyped_columns],
        }
        return plain | self.counted() | columns | {"largest": largest}


def diff(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    window: str | None = None,
    against: Pipeline | AnyPath | None = None,
) -> list[Difference]:
    """Compare the live windows with the windows of a definition, window by window. Nothing is changed.

    Windows of the definition that are not derived yet are derived from its states in this process. `window`:
    None: each that both have. `against`: in place of the live windows another definition, or the folder of
    another state: a root, a pipeline's folder in it, or one of the states in that.
    """
    if window is not None and window not in pipeline.windows:
        raise no_window(pipeline, window)
    bound = bind(pipeline, root)
    differences = [
        _difference(bound, name, *before)
        for name in ([window] if window else pipeline.windows)
        if (before := _before(bound, name, against, root))
    ]
    if not differences:
        place = against if isinstance(against, AnyPath) else root
        raise StateError(f"{pipeline.name}: there are no windows below {place} to compare with; run it first")
    return differences


def _before(
    bound: Bound, window: str, against: Pipeline | AnyPath | None, root: str | AnyPath
) -> tuple[Published, pa.Table] | None:
    """The publication and the windows to compare with; None where nothing is published."""
    if isinstance(against, AnyPath):
        store = DeltaStore(_state(against, bound.pipeline.name))
        own = published(store, window)
        publication = own if own.ledger else current(store, window)
        return (publication, _rows(store.root, publication)) if publication.ledger else None
    if against:
        other = bind(against, root)
        if window not in against.windows or published(other.store, window).ledger is None:
            return None
        return published(other.store, window), windows_of(other, window)
    publication = current(bound.store, window)
    publication = publication if publication.ledger else published(bound.store, window)
    return (publication, _rows(bound.folder, publication)) if publication.ledger else None


def _state(folder: AnyPath, pipeline: str) -> AnyPath:
    """A folder that leads to live tables: a state, or the name of a state in a pipeline's folder, or in a
    root with the pipeline.
    """
    folder = folder.absolute()
    if (folder.parent / OWNER_FILE).exists() and folder.name not in NO_STATES:
        return folder
    homes = [home for home in (folder, folder.parent, folder / pipeline) if (home / OWNER_FILE).exists()]
    if not homes:
        raise StateError(
            f"{folder} is neither a definition's file nor a state's folder: it has no {pipeline!r}, and is"
            " none itself"
        )
    return homes[0] / "any"


def _difference(bound: Bound, window: str, publication: Published, before: pa.Table) -> Difference:
    after, kind = windows_of(bound, window), bound.windows[window]
    had, keys = key_columns(before.column_names), bound.keys_of(window)
    if len(before) and had != {*keys}:
        raise DefinitionError(
            f"{window}: keys were {', '.join(sorted(had)) or 'none'}, and are {', '.join(keys) or 'none'}:"
            f" no window is another's successor, so that they cannot be compared; there were"
            f" {len(before):,}, and are {len(after):,}"
        )
    pending = pending_window(bound, window)
    missing_batches = len(np.setdiff1d(publication.starts, pending.history.batches.start_us))
    changes = compared(before, after, identity=tuple(dict.fromkeys((*keys, *kind.order))))
    names = (
        [name for name in after.column_names if name != BATCH],
        [name for name in before.column_names if name != BATCH],
    )
    new, gone = (tuple(name for name in one if name not in two) for one, two in (names, names[::-1]))
    retyped = tuple(name for name in names[0] if name in names[1] and name not in changes.after.column_names)
    return Difference(
        window, len(before), len(after), missing_batches, new, gone, retyped, changes, dict(_largest(changes))
    )


def windows_of(bound: Bound, window: str) -> pa.Table:
    """All closed windows under a definition: as published, or derived from states if the states have changed
    since.
    """
    pending = pending_window(bound, window)
    if pending.published.ledger and not pending.work:
        return _rows(bound.folder, pending.published)
    if not len(pending.history.batches):
        raise StateError(
            f"{bound.pipeline.name}: nothing was read under this definition; muntin run --rebuild FILE"
            f" --candidate --root {bound.root} reads it"
        )
    from muntin.jobs.finalize.finalize_task import combined_shard
    from muntin.jobs.finalize.shard import shards

    everything = replace(pending, work=Work(np.arange(len(pending.history.batches)), BEFORE_ALL, AFTER_ALL))
    return pa.concat_tables(
        [combined_shard(shard).published()[0] for shard in shards(bound, everything, "")],
        promote_options="permissive",
    )


def _rows(state: AnyPath, now: Published) -> pa.Table:
    """The windows, with columns in the order of their newest file: a table that began without windows got
    its keys later, behind the bounds.
    """
    folder = folder_of(state, now.table)
    filled = [file.path for file in now.snapshot.files if batches_of_windows(file.path)]
    names = opened(f"{folder}/{max(filled)}").schema_arrow.names if filled else []
    columns = (now.snapshot.schema or pa.schema([])).names
    return read_files(folder, now.snapshot, sorted(columns, key=lambda name: (*names, name).index(name)))


def _largest(changes: Changes) -> Iterator[tuple[str, tuple[float, Mapping[str, Any]]]]:
    """Each result that is a number, with its largest change and the window in which it is."""
    changed = pa.array([kind == "changed" for kind in changes.kinds], pa.bool_())
    before, after = changes.before.filter(changed), changes.after.filter(changed)
    for name in after.column_names:
        if name in changes.identity or not _is_number(after[name].type):
            continue
        by = pc.abs(pc.subtract(after[name].cast(pa.float64()), before[name].cast(pa.float64())))
        largest = pc.max(by).as_py()
        if largest:
            at = pc.index(by, largest).as_py()
            yield name, (largest, {name: after[name][at].as_py() for name in changes.identity})


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
