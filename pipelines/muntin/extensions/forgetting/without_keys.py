"""Rows of forgotten keys leave the files of a table.

Batches keep their versions, and ledgers name what they named: what is left was derived from the same rows,
and no window is derived anew. A run that commits meanwhile comes first, and the files are looked through
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from muntin.definition.instants import AFTER_ALL
from muntin.files.paths import AnyPath
from muntin.files.readable import opened
from muntin.jobs.housekeeping.compact import Unit, units
from muntin.jobs.published.window_files import shard_of, write_windows
from muntin.jobs.published.window_tables import is_of_windows
from muntin.jobs.state.bound import Bound
from muntin.states.column_ranges import RANGES, ends, is_end_of, whole_letters
from muntin.states.columns import BATCH
from muntin.states.forgotten_keys import Keys, Plain, among, refused_among, text_of_value
from muntin.states.frames import Ints
from muntin.states.sorted import by_key, instants
from muntin.store.batch_facts import batches_of
from muntin.store.contents import check_whole
from muntin.store.parquet import read_parquet
from muntin.store.paths import QUARANTINE, TIERS, batches_of_windows
from muntin.store.reading import read_states
from muntin.store.shared_files import write_shared
from muntin.store.store import Change, File, Snapshot, after_conflicts
from muntin.store.tier_files import file_of_rows, files_of_rows

_TRIES = 20
_ROW = "row"


def rows_among(table: str, rows: pa.Table, keys: Keys) -> np.ndarray:
    """Whether each row of a table of a state is of one of some keys (bool)."""
    return refused_among(rows[_ROW].to_pylist(), keys) if table == QUARANTINE else among(rows, keys)


def holding(folder: AnyPath, table: str, files: Sequence[File], keys: Keys) -> dict[File, int]:
    """The files of a table that hold rows of some keys, and how many. Only columns that can tell are read.

    Errors of a damaged file come as they are, OSError or pa.ArrowInvalid.
    """
    counts = {file: rows_in_file(f"{folder}/{file.path}", table, keys) for file in files if file.rows}
    return {file: count for file, count in counts.items() if count}


def rows_in_file(place: str, table: str, keys: Keys) -> int:
    """How many rows of a file are of one of some keys; 0 of a file that is gone. Only columns that can tell
    are read.

    A file without such a row whose footer has ranges that end with a key counts as a row: they are of rows
    that it held once.
    """
    wanted = {_ROW} if table == QUARANTINE else {name for columns in keys.columns for name in columns}
    try:
        with opened(place) as file:
            names = [name for name in file.schema_arrow.names if name in wanted]
            rows = file.read(names)
            return int(rows_among(table, rows, keys).sum() or ranges_tell(file, rows, keys)) if names else 0
    except FileNotFoundError:
        return 0


def ranges_tell(file: pq.ParquetFile, rows: pa.Table, keys: Keys) -> bool:
    """Whether the ranges in a footer end with one of some keys that no row has.

    `rows`: of the file, with its columns of keys.
    """
    texts = (file.metadata.metadata or {}, file.schema_arrow.metadata or {})
    range_ends = [
        (name, end) for each in texts for name, key_ends in ends(each.get(RANGES)).items() for end in key_ends
    ]
    return any(
        tells(*each, keys) or (may_tell(*each, keys) and not _begins(rows, *each)) for each in range_ends
    )


def _begins(rows: pa.Table, name: str, end: str) -> bool:
    """Whether a value of a column begins as a cut end of its range."""
    return name in rows.column_names and bool(pc.any(pc.starts_with(rows[name], whole_letters(end))).as_py())


def tells(name: str, end: Any, keys: Keys) -> bool:  # noqa: ANN401 - as JSON has it
    """Whether an end of a range is one of some keys of one column: one of several columns alone is that of
    other keys as well.
    """
    return (
        end is not None
        and (name,) in keys.columns
        and keys.until_us(((name, text_of_value(end)),)) == AFTER_ALL
    )


def may_tell(name: str, end: Any, keys: Keys) -> bool:  # noqa: ANN401 - as JSON has it
    """Whether an end of a range is the begin of such a key; then it may be the begin of another key, too."""
    texts = (
        [text for key in keys.keys for column, text in key if column == name and len(key) == 1]
        if isinstance(keys, Plain)
        else []
    )
    return isinstance(end, str) and any(is_end_of(end, text) for text in texts)


def without_keys(bound: Bound, table: str, keys: Keys) -> int:
    """Take the rows of some keys out of a table of a state, in one commit; how many rows that were."""
    given_up = f"{bound.table(table)}: other runs keep committing; run again when they are done"
    for attempt in after_conflicts(_TRIES, given_up):
        with attempt:
            base = bound.store.snapshot(table)
            counts_by_file = holding(bound.table(table), table, base.files, keys)
            if counts_by_file and base.schema is not None:
                adds, removes = _anew(bound, table, base, [*counts_by_file], keys)
                bound.store.commit(table, base, Change(base.schema, adds, removes, []))
    return sum(counts_by_file.values())


def _anew(
    bound: Bound, table: str, base: Snapshot, files: Sequence[File], keys: Keys
) -> tuple[list[File], list[File]]:
    """The files to add and to remove."""
    if is_of_windows(table) or table.startswith(TIERS):
        check_whole(bound.table(table), files)
        return [*_single(bound, table, files, keys)], [*files]
    chosen = [unit for unit in units(bound, table) if {*unit.files} & {*files}]
    return [_shared(bound, table, base, unit, keys) for unit in chosen], [
        file for unit in chosen for file in unit.files
    ]


def _single(bound: Bound, table: str, files: Sequence[File], keys: Keys) -> Iterator[File]:
    """Files of windows or tiers without the rows."""
    folder = bound.table(table)
    places = {file: place for place, file in files_of_rows(files).items()}
    for file in files:
        rows = read_parquet(f"{folder}/{file.path}")
        remaining_rows = rows.filter(pa.array(~rows_among(table, rows, keys)))
        if file in places:
            yield file_of_rows(remaining_rows, folder, places[file], bound.pipeline.keys)
        elif len(remaining_rows):
            first, last = batches_of_windows(file.path) or (0, -1)
            keyed = [key for key in bound.pipeline.keys if key in remaining_rows.column_names]
            yield write_windows(remaining_rows, folder, first, last, shard_of(file), keyed)


def _shared(bound: Bound, table: str, base: Snapshot, unit: Unit, keys: Keys) -> File:
    """A file with the batches of some files, without the rows.

    Its footer has the facts of the batches: their versions stay.
    """
    folder = bound.table(table)
    check_whole(folder, unit.files)
    rows = read_states(folder, replace(base, files=tuple(unit.files)))
    remaining_rows = rows.filter(pa.array(~rows_among(table, rows, keys)))
    if len(unit.files) > 1:  # rows of a single file stay in its order
        remaining_rows = by_key(remaining_rows, bound.pipeline.keys)
    batches = batches_of(folder, unit.files, bound.pipeline.intervals.after)
    counts = np.bincount(batches.position(instants(remaining_rows[BATCH])), minlength=len(batches)).astype(
        np.int64
    )
    return write_shared(remaining_rows, folder, replace(batches, rows=counts), bound.pipeline.keys)


def batches_holding(bound: Bound, table: str, keys: Keys) -> Ints:
    """Starts of the batches of a table of states that hold rows of some keys, microseconds, ascending."""
    base, folder = bound.store.snapshot(table), bound.table(table)
    rows = read_states(folder, replace(base, files=tuple(holding(folder, table, base.files, keys))))
    return np.unique(instants(rows[BATCH])[rows_among(table, rows, keys)])
