"""Files that several small batches share: a table keeps few files, and each batch can still be replaced.

The rows of all batches lie in one file, with the column `batch`; its footer has the facts of each batch. Who
replaces a batch writes the other batches of its file anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.files.paths import AnyPath
from muntin.states.columns import BATCH, BUCKET, FRAME
from muntin.states.derived_columns import footer_of
from muntin.states.frames import Ints
from muntin.store.batch_facts import facts_footer, shared_batches
from muntin.store.contents import check_whole, problem_of
from muntin.store.parquet import read_parquet, states_encoding, write_named
from muntin.store.paths import SharedPath, parse_states_path
from muntin.store.store import File
from muntin.timeline.batches import Batches, positions_of

REPEATED = (BATCH, BUCKET, FRAME)
"""Columns of states with few distinct values, beside the keys; of states that are rows, frames have many."""


def write_shared(table: pa.Table, folder: AnyPath, batches: Batches, keys: Sequence[str] = ()) -> File:
    """Write the rows of some batches to a file that they share.

    `table`: rows with `BATCH` (timestamp us UTC), as files of the table in `folder` hold them; see
    `states.derived_columns`. `folder`: of the table. `batches`: the facts of every batch that the file holds,
    also of batches without rows. `keys`: the key columns, which have few distinct values.
    """
    live = ~batches.expired
    low = int(batches.low_us[live].min(initial=AFTER_ALL))
    high = int(batches.high_us[live].max(initial=BEFORE_ALL))
    first = int(batches.start_us[0])
    last = int(batches.start_us[-1])
    name = SharedPath(
        first, last, len(batches), None if low == AFTER_ALL else low, None if high == BEFORE_ALL else high
    ).named
    few = [column for column in (*keys, *REPEATED) if column in table.column_names]
    footer = {
        **{key.encode(): text.encode() for key, text in facts_footer(batches).items()},
        **footer_of(table.schema),
    }
    return File(**write_named(table.replace_schema_metadata(footer), folder, name, states_encoding(few, few)))


def held(folder: AnyPath, file: File) -> Ints:
    """Starts of the batches that a file holds, ascending."""
    path = parse_states_path(file.path)
    return (
        shared_batches(f"{folder}/{file.path}").start_us
        if isinstance(path, SharedPath)
        else np.array([path.batch_us], np.int64)
    )


def replacement(
    folder: AnyPath, files: Iterable[File], starts: Ints, new: Sequence[File], keys: Sequence[str] = ()
) -> tuple[list[File], list[File]]:
    """The files to add and to remove so that some batches consist of new files, and all other batches stay.

    `folder`: of the table. `files`: of the table as it is. `starts`: of the batches to replace, ascending.
    `new`: their files, written. `keys`: the key columns.
    """
    near = [file for file in files if len(within(starts, file.path))]
    lost = [file for file in near if _is_lost(folder, file, starts)]
    old = [
        file
        for file in near
        if file in lost
        or not isinstance(parse_states_path(file.path), SharedPath)
        or _meet(held(folder, file), starts)
    ]
    rest = [left for file in old if file not in lost and (left := without(folder, file, starts, keys))]
    have = {file.path for file in (*new, *rest)}
    had = {file.path for file in old}
    return [file for file in (*new, *rest) if file.path not in had], [
        file for file in old if file.path not in have
    ]


def _meet(some: Ints, others: Ints) -> bool:
    """Whether ascending arrays have a value in common."""
    return bool((positions_of(some, others) >= 0).any())


def _is_lost(folder: AnyPath, file: File, starts: Ints) -> bool:
    """Whether a file that cannot be read is to go: all batches from its first to its last are read again."""
    facts = parse_states_path(file.path)
    places = within(starts, file.path)
    all_again = places[0] == facts.first_us and places[-1] == facts.last_us and len(places) >= facts.batches
    return bool(all_again) and problem_of(folder / file.path) is not None


def within(starts: Ints, path: str) -> Ints:
    """The batches between the first and the last of a file of states. `starts`: ascending."""
    facts = parse_states_path(path)
    return starts[
        np.searchsorted(starts, facts.first_us) : np.searchsorted(starts, facts.last_us, side="right")
    ]


def others(folder: AnyPath, file: File, starts: Ints, keys: Sequence[str] = ()) -> File | None:
    """A file without some batches: the file itself if it holds none of them; None if it holds no other
    batches.
    """
    return without(folder, file, starts, keys) if _meet(held(folder, file), starts) else file


def without(folder: AnyPath, file: File, starts: Ints, keys: Sequence[str] = ()) -> File | None:
    """A new file with the other batches of a file; None if there are no other batches."""
    if not isinstance(parse_states_path(file.path), SharedPath):
        return None
    batches = shared_batches(f"{folder}/{file.path}")
    stays = positions_of(batches.start_us, starts) < 0
    if not stays.any():
        return None
    check_whole(folder, [file])
    table = read_parquet(f"{folder}/{file.path}")
    gone = pc.is_in(table[BATCH].cast(pa.int64()), pa.array(starts))
    return write_shared(table.filter(pc.invert(gone)), folder, batches.take(stays), keys)
