"""Decisions that were taken before, in a file beside the tables: each with the name of everything that it
depends on.

The file is a cache. Without it ids are compared again, and the decisions are the same.

The table of ids as it is: what it knows of earlier batches, and how batches are replaced in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa

from muntin.definition.schedule import Interval
from muntin.errors import StateError
from muntin.files.readable import opened
from muntin.jobs.deduplication.earlier import Earlier
from muntin.jobs.deduplication.event_ids import SCHEMA, TEXTS, Ids
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.replaced_batches import replace_batches
from muntin.states.frames import Ints
from muntin.store.batch_facts import batches_of
from muntin.store.disk import write_whole
from muntin.store.parquet import encoded
from muntin.store.paths import IDS
from muntin.store.store import File, Snapshot
from muntin.timeline.batches import (
    UNDECIDED,
    Batches,
    Versions,
    compared,
    decided,
    first_in_reach,
    first_of_run,
    positions_of,
)

Changing = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class KnownIds:
    """The table of ids: files with rows, the facts of all batches in it, and the facts of batches that have
    states, too.
    """

    files: Sequence[File]
    ids: Batches
    batches: Batches


def facts_of_ids(bound: Bound, snapshot: Snapshot) -> Batches:
    """The batches in the table of ids; `low_us` and `high_us` are their first and last event time."""
    return batches_of(bound.table(IDS), snapshot.files, bound.pipeline.intervals.after)


def known_ids(bound: Bound) -> KnownIds | None:
    """The known ids when batches are about to be read; None where batches are not compared.

    What is wrong with the tables is no error here: batches may be read to mend them.
    """
    if bound.source.dedupe_within_us is None:
        return None
    snapshot = bound.store.snapshot(IDS)
    try:
        ids = facts_of_ids(bound, snapshot)
        return KnownIds([file for file in snapshot.files if file.rows], ids, with_states(bound, ids))
    except StateError:
        return KnownIds((), Batches.of(()), Batches.of(()))


def earlier_ids(bound: Bound, noted_ids: KnownIds, intervals: Sequence[Interval]) -> Earlier:
    """The ids that batches about to be read are compared with: the ids of the known batches."""
    own = Batches.of((each.start_us, each.end_us, *[0] * 5) for each in intervals)
    batches = Batches.joined(
        [noted_ids.batches.take(~np.isin(noted_ids.batches.start_us, own.start_us)), own]
    )
    begins = batches.start_us[first_of_run(batches.start_us, batches.end_us)][batches.position(own.start_us)]
    begin_us = dict(zip(own.start_us.tolist(), begins.tolist(), strict=True))
    left_out = tuple(np.setdiff1d(noted_ids.ids.start_us, batches.start_us).tolist())
    return Earlier(bound.folder, noted_ids.files, bound.source.dedupe_within_us or 0, begin_us, left_out)


def compared_ids(bound: Bound, facts: Batches) -> tuple[Ints, Versions]:
    """The position of the first batch that each batch is compared with, and a name of all ids that count for
    it.

    `facts`: of the table of ids.
    """
    first = first_in_reach(facts, bound.source.dedupe_within_us or 0)
    return first, compared(facts, first)


def with_states(bound: Bound, ids: Batches) -> Batches:
    """The batches that have states, too.

    Ids without states were left by a run that ended between two commits: they do not count.
    """
    tables = (bound.store.snapshot(frames.table) for frames in bound.frame_sets)
    held = (
        batches_of(bound.table(frames.table), snapshot.files, bound.pipeline.intervals.after).start_us
        for frames, snapshot in zip(bound.frame_sets, tables, strict=True)
    )
    return ids.take(np.isin(ids.start_us, reduce(np.intersect1d, held)))


def decided_of_nothing(bound: Bound, files: Sequence[File]) -> Mapping[int, int]:
    """Start of a batch -> the name of the decision that nothing of it is a duplicate.

    `files`: with the ids of all the batches.
    """
    batches = batches_of(bound.table(IDS), files, bound.pipeline.intervals.after)
    nothing = Ids.none()
    pairs = zip(batches.start_us.tolist(), batches.version.tolist(), strict=True)
    return {start: decided(version, nothing.high, nothing.low) for start, version in pairs}


def commit_ids(bound: Bound, starts: Ints, new: Sequence[File]) -> None:
    """Replace the ids of batches; see `replace_batches`.

    ConflictError where other runs commit all the time.
    """
    replace_batches(bound, IDS, starts, new, (SCHEMA, TEXTS))


NAME = "decisions.parquet"
_COLUMNS = {"batch": np.int64, "compared": np.uint64, "decided": np.uint64}
_CHANGES = pa.list_(pa.struct([("home", pa.int64()), ("name", pa.uint64())]))
_CHANGING = pa.field("changing", _CHANGES)
_PLAIN = pa.schema([(name, pa.from_numpy_dtype(kind)) for name, kind in _COLUMNS.items()])
_NONE: Changing = ()


def kept(bound: Bound, starts: Ints, names: Versions) -> tuple[Versions, dict[int, Changing]]:
    """The decisions that were taken about the same ids, `UNDECIDED` where none was; and which rows of earlier
    batches the batches change.

    `names`: of all that the decisions depend on, as `compared` gives them.
    """
    (batch, compared, decided), changing = _read(bound)
    at = positions_of(starts, batch)
    same = (at >= 0) & (np.append(compared, np.uint64(0))[at] == names)
    known_changes = {int(start): changing[int(start)] for start in starts[same].tolist() if start in changing}
    return np.where(same, np.append(decided, np.uint64(UNDECIDED))[at], np.uint64(UNDECIDED)), known_changes


def keep(
    bound: Bound, starts: Ints, names: Versions, decided: Versions, changing: Mapping[int, Changing]
) -> None:
    """Write down new decisions; earlier decisions stay. Of two runs at once the last run wins.

    `changing`: start of a batch -> the start of each batch that it changes, and a name of the changes.
    """
    old, changes_before = _read(bound)
    some = decided != UNDECIDED
    others = ~np.isin(old[0], starts)
    both = [
        np.append(column[others], new[some])
        for column, new in zip(old, (starts, names, decided), strict=True)
    ]
    order = np.argsort(both[0])
    table = pa.table([column[order] for column in both], names=list(_COLUMNS))
    if every := {
        start: changes_before[start] for start in old[0][others].tolist() if start in changes_before
    } | {**changing}:
        changes = [
            [{"home": home, "name": name} for home, name in every.get(start, _NONE)]
            for start in both[0][order].tolist()
        ]
        table = table.append_column(_CHANGING, pa.array(changes, _CHANGES))
    write_whole(bound.folder / NAME, memoryview(encoded(table)))


def keep_of_one(bound: Bound, before: Batches, ids: Batches, decided: Versions) -> None:
    """Write down the decision of a batch that was read alone, so that its ids are not compared again.

    `before`: facts of the batches that it was compared with, in the table of ids. `ids`: its own.
    """
    facts = Batches.joined([before.take(before.start_us != ids.start_us[0]), ids])
    names = compared_ids(bound, facts)[1]
    keep(bound, ids.start_us, names[facts.position(ids.start_us)], decided, {})


def changed_by(bound: Bound, start: int) -> Changing:
    """The earlier batches whose rows a batch changes, each with the name of the changes,
    as was decided last.
    """
    return _read(bound)[1].get(start, _NONE)


def changers(bound: Bound, starts: Collection[int]) -> dict[int, list[tuple[int, int]]]:
    """Start of a batch -> the later batches that change its rows, ascending, and the name of the changes, as
    was decided last.
    """
    changers_by_home: dict[int, list[tuple[int, int]]] = {start: [] for start in starts}
    for later, changing in sorted(_read(bound)[1].items()):
        for home, name in changing:
            if home in changers_by_home:
                changers_by_home[home].append((later, name))
    return changers_by_home


def _read(bound: Bound) -> tuple[list[np.ndarray], dict[int, Changing]]:
    """The file's columns, empty if it is gone or damaged; and what batches change in other batches."""
    table = _PLAIN.empty_table()
    with suppress(OSError, ValueError, pa.ArrowException):
        content = opened((bound.folder / NAME).read_bytes()).read()
        table = content if content.schema in (_PLAIN, _PLAIN.append(_CHANGING)) else table
    columns = [table[name].to_numpy() for name in _COLUMNS]
    lists = table["changing"].to_pylist() if "changing" in table.column_names else [[]] * len(table)
    pairs = (
        (start, tuple((each["home"], each["name"]) for each in changes_of_batch))
        for start, changes_of_batch in zip(columns[0].tolist(), lists, strict=True)
    )
    return columns, {start: changes_of_batch for start, changes_of_batch in pairs if changes_of_batch}
