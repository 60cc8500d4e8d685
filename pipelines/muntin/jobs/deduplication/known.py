"""The table of ids as it is: what it knows of earlier batches, and how batches are replaced in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from muntin.errors import StateError
from muntin.jobs.deduplication.earlier import Earlier
from muntin.jobs.deduplication.event_ids import SCHEMA, TEXTS, Ids
from muntin.jobs.state.replaced_batches import replace_batches
from muntin.store.batch_facts import batches_of
from muntin.store.paths import IDS
from muntin.timeline.batches import Batches
from muntin.timeline.deduplication import compared, decided, first_in_reach, first_of_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints
    from muntin.store.store import File, Snapshot
    from muntin.timeline.batches import Versions


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
    batches, nothing = batches_of(bound.table(IDS), files, bound.pipeline.intervals.after), Ids.none()
    pairs = zip(batches.start_us.tolist(), batches.version.tolist(), strict=True)
    return {start: decided(version, nothing.high, nothing.low) for start, version in pairs}


def commit_ids(bound: Bound, starts: Ints, new: Sequence[File]) -> None:
    """Replace the ids of batches; see `replace_batches`.

    ConflictError where other runs commit all the time.
    """
    replace_batches(bound, IDS, starts, new, (SCHEMA, TEXTS))
