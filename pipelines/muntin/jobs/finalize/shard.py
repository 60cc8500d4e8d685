"""Shards: the work of windows over one set of frames, cut by key, so that each task reads its states once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.kinds import Carried
from muntin.definition.schedule import Interval
from muntin.jobs.finalize.tiers import Tiers, check_states, tiers_of
from muntin.jobs.published.pending import Pending
from muntin.jobs.state.bound import Bound
from muntin.states.frames import Ints
from muntin.store.paths import SharedPath, StatesPath, parse_states_path
from muntin.timeline.history import Work

SHARD_ROWS = 900_000
WORTH_A_TASK = 250_000
"""Fewer rows are combined before another task has begun."""
MOST_READINGS = 16
"""So many shards at most of a rollup, each of which reads all states, since those of its keys lie in all
buckets.
"""


@dataclass(frozen=True, slots=True)
class Shard:
    """The work of one window over the keys of some buckets.

    Attributes:
        bound, window: the pipeline state, and the name of its window.
        files: paths below the frame set's table.
        schema: of the table of states.
        watermarks_us: the watermark after each batch of the history, microseconds.
        wanted: positions of the batches whose windows are asked for, ascending; one past the last stands for
            open windows.
        last: position of the last batch whose states are read, for this window or for another of the same
            task.
        low_us, high_us, since, note, notes_after: as in `Work`.
        starts: of the intervals of all batches of the history, and the end of the last; microseconds.
        number, count: the number of this shard, and how many there are.
        staging: the folder for its files, below the state.
        tiers: what is read in place of some states; None: states alone.
        only: a condition on states, for reading one key; only files with pickles are held against their
            digests then. None: all.
        whole: whether the times ask for every row of the files.
    """

    bound: Bound
    window: str
    files: Sequence[str]
    schema: pa.Schema
    watermarks_us: Ints
    wanted: Ints
    last: int
    low_us: int
    high_us: int
    since: int
    starts: Ints
    note: Sequence[str]
    notes_after: Sequence[int]
    number: int
    count: int
    staging: str
    tiers: Tiers | None = None
    only: pc.Expression | None = None
    whole: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The key columns of the window."""
        return self.bound.keys_of(self.window)

    @property
    def label(self) -> str:
        """The window, its batches and the share of its keys, for people."""
        last = len(self.starts) - 1
        first, end = min(int(self.wanted[0]), last - 1), min(int(self.wanted[-1]) + 1, last)
        part = f", part {self.number + 1} of {self.count} of its keys" if self.count > 1 else ""
        return f"{self.window} of {Interval(int(self.starts[first]), int(self.starts[end]))}{part}"

    @property
    def is_rollup(self) -> bool:
        """Whether states have more keys than the window: the states of its keys lie in all buckets."""
        return len(self.keys) < len(self.bound.pipeline.keys)


def shards(bound: Bound, pending: Pending, folder: str) -> list[Shard]:
    """The shards of one window's work."""
    return [shard for of_one_task in shards_together(bound, [pending], folder) for shard in of_one_task]


def shards_together(
    bound: Bound, windows: Sequence[Pending], folder: str, cores: int = 1
) -> list[list[Shard]]:
    """The shards of each task, one per window. They read the same states, of one frame set and one history.

    `cores`: how many tasks can run at once; the windows are the same, however many tasks make them.
    """
    groups = defaultdict(list)
    for pending in windows:
        work = pending.work
        if work:
            goes_on = isinstance(bound.windows[pending.window].follows, Carried) or work.note
            begin = (work.since, work.note, work.notes_after, work.shards) if goes_on else None
            starts, watermarks_us = pending.history.batches.start_us, pending.watermarks_us
            keys, order = bound.keys_of(pending.window), bound.windows[pending.window].made_of.by_arrival
            groups[
                bound.frames_of(pending.window).table,
                order,
                keys,
                starts.tobytes(),
                watermarks_us.tobytes(),
                begin,
            ].append(pending)
    return [shards for group in groups.values() for shards in _of_group(bound, group, folder, cores)]


def _of_group(bound: Bound, group: Sequence[Pending], folder: str, cores: int) -> list[list[Shard]]:
    """The shards of windows that read the same states; none where there is no state to read."""
    work, schema = _common(group), group[0].states.schema
    last = min(max(pending.work.last for pending in group), len(group[0].history.batches) - 1)
    files, rows, tiers, whole = _needed(group[0], work, last, tiers_of(bound, group, work))
    if (
        schema is None
        or not (files or (tiers and (tiers.files or tiers.spared)) or group[0].work.note)
        or not set(bound.pipeline.keys) <= set(schema.names)
    ):
        return []
    keys, most = bound.keys_of(group[0].window), _count(rows, cores)
    is_rollup = len(keys) < len(bound.pipeline.keys)
    undivided = not keys or any(not bound.windows[pending.window].made_of.apart for pending in group)
    count = 1 if undivided else max(group[0].work.shards, min(most, MOST_READINGS) if is_rollup else most)
    batches = group[0].history.batches
    if undivided or is_rollup:
        check_states(bound.pipeline.name, [pending.window for pending in group], rows // count)
    starts = np.append(batches.start_us, batches.end_us[-1:])
    return [
        [
            Shard(
                bound,
                pending.window,
                files,
                schema,
                pending.watermarks_us,
                pending.work.positions,
                last,
                work.low_us,
                work.high_us,
                work.since,
                starts,
                pending.work.note,
                pending.work.notes_after,
                number,
                count,
                folder,
                tiers,
                whole=whole,
            )
            for pending in group
        ]
        for number in range(count)
    ]


def _count(rows: int, cores: int) -> int:
    """How many shards so many rows are worth. All cores are busy to the end: more shards than cores are a
    multiple of the cores.

    >>> [_count(rows, 2) for rows in (10_000, 600_000, 4_600_000)]
    [1, 2, 6]
    """
    wanted = round(rows / SHARD_ROWS)
    return -(-wanted // cores) * cores if wanted > cores else max(1, wanted, min(cores, rows // WORTH_A_TASK))


def _common(group: Sequence[Pending]) -> Work:
    """The batches and states that the work of a group of windows needs together."""
    works = [pending.work for pending in group]
    positions = np.unique(np.concatenate([work.positions for work in works]))
    return Work(
        positions,
        min(work.low_us for work in works),
        max(work.high_us for work in works),
        min(work.since for work in works),
    )


def _needed(
    pending: Pending, work: Work, last: int, tiers: Tiers | None
) -> tuple[list[str], int, Tiers | None, bool]:
    """The input of the work: files of states in the order of their batches, up to the last; number of rows;
    the tiers, which name the files they replace.

    And whether the times of the work ask for every row of the files.
    """
    batches = pending.history.batches
    if not len(batches):
        return [], 0, None, True
    starts = np.append(batches.start_us, batches.end_us[-1:])
    first_us, last_us, since_us = (
        int(starts[0]),
        int(starts[last]),
        int(starts[work.since]),
    )
    files, whole = [], tiers is None
    for file in pending.states.files:
        path = parse_states_path(file.path)
        if path.first_us > last_us or path.last_us < first_us or path.low_us is None or path.high_us is None:
            continue
        if path.low_us < work.high_us and (path.last_us >= since_us or path.high_us >= work.low_us):
            files.append(file)
            within = path.first_us >= first_us and path.last_us <= last_us and path.high_us < work.high_us
            whole &= within and (path.first_us >= since_us or path.low_us >= work.low_us)
    spared = {
        file.path for file in files if tiers and _is_spared(tiers, parse_states_path(file.path), since_us)
    }
    rows = sum(file.rows for file in files if file.path not in spared) + (tiers.rows if tiers else 0)
    paths = sorted(file.path for file in files)
    tiers = replace(tiers, spared=tuple(sorted(spared))) if tiers else None
    return [path for path in paths if path not in spared], rows, tiers, whole


def _is_spared(tiers: Tiers, path: StatesPath | SharedPath, since_us: int) -> bool:
    """Whether tiers stand for all states of a file."""
    return (
        path.last_us < since_us
        and path.low_us is not None
        and path.high_us is not None
        and not tiers.needs(path.low_us, path.high_us)
    )
