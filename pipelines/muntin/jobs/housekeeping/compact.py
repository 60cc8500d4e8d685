"""Compaction: the files of small batches become files that batches share, as a log-structured merge-tree
merges its runs.

files of a table   ........ 40 batches with a file each                   the oldest `MANY` of a size become
one
                   #........ a file with 32 batches, 8 with one           and so on, up to `MOST_BATCHES` in a
                   file

Rows, versions of batches and ledgers stay as they are: no window is derived anew. Who replaces a batch later
writes the rest of its file anew. A run that commits meanwhile comes first: compaction gives way.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

import numpy as np

from muntin.errors import ConflictError, StateError
from muntin.jobs.published.window_files import MOST_BATCHES, write_windows
from muntin.jobs.published.window_tables import Published, is_of_windows, published
from muntin.jobs.state.bound import Bound
from muntin.states.sorted import by_key
from muntin.store.batch_facts import batches_of
from muntin.store.contents import check_whole
from muntin.store.paths import QUARANTINE, batches_of_windows, parse_states_path
from muntin.store.reading import read_files, read_states
from muntin.store.shared_files import write_shared
from muntin.store.store import Change, File

MANY = 32
MOST_BYTES = 2**25
"""A file that is larger is not put together with others."""

_log = logging.getLogger("muntin")


@dataclass(frozen=True, slots=True)
class Unit:
    """Files that stay together, as they hold the same batches: starts of the first and the last, and their
    number.
    """

    files: tuple[File, ...]
    first_us: int
    last_us: int
    batches: int

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)


def compact(bound: Bound) -> str | None:
    """Put some files of one table together, if a table has many; return its name.

    At most one table, and `MANY` files of it: the end of a run is no place for long work. A conflict or a
    full disk is no error: the files stay as they are.
    """
    merged = (
        table
        for table, units_of_table in _units_by_table(bound)
        if (chosen := crowd(units_of_table)) and _merged(bound, table, chosen)
    )
    return next((table.removeprefix("../") for table in merged), None)


def _merged(bound: Bound, table: str, chosen: Sequence[Unit]) -> bool:
    """Whether some files were put together. An obstacle is reported, and stays as it is."""
    try:
        _merge(bound, table, chosen)
    except (ConflictError, StateError, OSError) as wrong:
        _log.warning(
            "%s: files were not put together (%s); a later run tries again", bound.table(table), wrong
        )
        return False
    return True


def _units_by_table(bound: Bound) -> Iterator[tuple[str, list[Unit]]]:
    """The tables whose files hold batches, each read once."""
    for table in [*(frames.table for frames in bound.frame_sets), QUARANTINE, *bound.tables_of_ids]:
        yield table, _units_of_states(bound.store.snapshot(table).files)
    for window in bound.windows:
        now = published(bound.store, window)
        yield now.table, _units_of_windows(now)


def crowd(units_of_table: Iterable[Unit]) -> Sequence[Unit]:
    """The oldest units to put together, once there are `MANY` of a size; else none."""
    levels: dict[int, list[Unit]] = {}
    for unit in sorted(units_of_table, key=lambda unit: unit.first_us):
        if unit.bytes < MOST_BYTES and unit.batches * 2 <= MOST_BATCHES:
            levels.setdefault(int(log(max(unit.batches, 1), MANY) + 1e-9), []).append(unit)
    return next(
        (
            _fitting(alike)
            for _, alike in sorted(levels.items())
            if len(alike) >= MANY and len(_fitting(alike)) > 1
        ),
        (),
    )


def _fitting(alike: Sequence[Unit]) -> Sequence[Unit]:
    """The first units that fill a file."""
    count = np.searchsorted(np.cumsum([unit.batches for unit in alike]), MOST_BATCHES, side="right")
    size = np.searchsorted(np.cumsum([unit.bytes for unit in alike]), MOST_BYTES, side="right")
    return alike[: min(MANY, max(int(count), 1), max(int(size), 1))]


def units(bound: Bound, table: str) -> list[Unit]:
    """The files of a table, files of the same batch together."""
    if is_of_windows(table):
        return _units_of_windows(published(bound.store, Path(table).name))
    return _units_of_states(bound.store.snapshot(table).files)


def _units_of_states(files: Iterable[File]) -> list[Unit]:
    by_path = ((parse_states_path(file.path), file) for file in files)
    return _units((facts.first_us, facts.last_us, facts.batches, file) for facts, file in by_path)


def _units_of_windows(now: Published) -> list[Unit]:
    """Segments of the ledger hold no windows."""
    by_path = ((batches_of_windows(file.path), file) for file in now.snapshot.files)
    spans = [(*held, file) for held, file in by_path if held]
    firsts = np.array([first for first, _, _ in spans], np.int64)
    lasts = np.array([last for _, last, _ in spans], np.int64)
    counts = np.searchsorted(now.starts, lasts, side="right") - np.searchsorted(now.starts, firsts)
    return _units(
        (first, last, count, file) for (first, last, file), count in zip(spans, counts.tolist(), strict=True)
    )


def _units(spans: Iterable[tuple[int, int, int, File]]) -> list[Unit]:
    """Units to put together: files with the same first batch, last batch and number of
    batches are one unit.
    """
    by_batches: dict[tuple[int, int, int], list[File]] = {}
    for first, last, count, file in spans:
        by_batches.setdefault((first, last, count), []).append(file)
    return [Unit(tuple(files), *held) for held, files in by_batches.items()]


def _merge(bound: Bound, table: str, chosen: Sequence[Unit]) -> None:
    """Write the rows of some files to a single file, and commit it in their place.

    A damaged file is an error: in a file of another name the damage could not be found any more.
    """
    snapshot, folder = bound.store.snapshot(table), bound.table(table)
    files = [file for unit in chosen for file in unit.files]
    if snapshot.schema is None or not {file.path for file in files} <= {file.path for file in snapshot.files}:
        raise ConflictError(f"{bound.table(table)}: another run replaced some of the files")
    check_whole(folder, files)
    rows = (read_files if is_of_windows(table) else read_states)(
        folder, replace(snapshot, files=tuple(files))
    )
    if len(rows) != (count := sum(file.rows for file in files)):
        raise StateError(f"{folder}: {len(rows)} rows in files that hold {count}")
    if is_of_windows(table):
        window = Path(table).name
        keys, kind = bound.keys_of(window), bound.windows[window]
        order = [(name, "ascending") for name in dict.fromkeys((*keys, *kind.order))]
        last_us = max(unit.last_us for unit in chosen)
        new = write_windows(rows.sort_by(order), folder, chosen[0].first_us, last_us, 0, keys)
    else:
        batches = batches_of(folder, files, bound.pipeline.intervals.after)
        new = write_shared(by_key(rows, bound.pipeline.keys), folder, batches, bound.pipeline.keys)
    bound.store.commit(table, snapshot, Change(snapshot.schema, [new], files, []))
