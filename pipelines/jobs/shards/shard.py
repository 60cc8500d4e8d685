"""Shards: the work of windows over one set of frames, cut by key, so that each task reads its states once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.definition.kinds import Carried
from pipelines.store.paths import parse_states_path
from pipelines.timeline.work import Work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from pipelines.jobs.bound import Bound
    from pipelines.jobs.pending import Pending

SHARD_ROWS = 900_000


@dataclass(frozen=True, slots=True)
class Shard:
    """The work of one window over the keys of some buckets.

    Attributes:
        bound, window: the pipeline, and the name of its window.
        files: (path below the frame set's table, position of its batch), in order of arrival.
        schema: of the table of states.
        marks: the watermark after each batch of the history, microseconds.
        wanted: position -> start of the batch, for the batches whose windows are asked for.
        low_us, high_us, since, note, notes_after: as in `Work`.
        starts: of the intervals of all batches of the history, and the end of the last; microseconds.
        number, count: the number of this shard, and how many there are.
        staging: the folder for its files, below the state.
    """

    bound: Bound
    window: str
    files: Sequence[tuple[str, int]]
    schema: pa.Schema
    marks: Sequence[int]
    wanted: Mapping[int, int]
    low_us: int
    high_us: int
    since: int
    starts: Sequence[int]
    note: Sequence[str]
    notes_after: Sequence[int]
    number: int
    count: int
    staging: str


def shards(bound: Bound, pending: Pending, folder: str) -> list[Shard]:
    """The shards of one window's work."""
    return [shard for of_one_task in shards_together(bound, [pending], folder) for shard in of_one_task]


def shards_together(bound: Bound, windows: Sequence[Pending], folder: str) -> list[list[Shard]]:
    """For each task its shards, one per window. They read the same states: those of one frame set and one history."""
    groups = defaultdict(list)
    for pending in windows:
        work = pending.work
        if work.positions:
            goes_on = isinstance(bound.windows[pending.window].follows, Carried) or work.note
            begin = (work.since, work.note, work.notes_after) if goes_on else None
            groups[bound.frames_of(pending.window).table, pending.history.batches, pending.marks, begin].append(pending)
    return [shards for group in groups.values() for shards in _of_group(bound, group, folder)]


def _of_group(bound: Bound, group: Sequence[Pending], folder: str) -> list[list[Shard]]:
    """The shards of windows that read the same states; none where there is no state to read."""
    work, schema = _common(group), group[0].states.schema
    files, rows = _needed(group[0], work)
    if schema is None or not (files or group[0].work.note) or not set(bound.pipeline.keys) <= set(schema.names):
        return []
    undivided = not bound.pipeline.keys or any(not bound.windows[pending.window].made_of.apart for pending in group)
    count = 1 if undivided else max(1, round(rows / SHARD_ROWS))
    batches = group[0].history.batches
    starts = [batch.interval.start_us for batch in batches] + [batch.interval.end_us for batch in batches[-1:]]
    return [
        [
            Shard(
                bound,
                pending.window,
                files,
                schema,
                pending.marks,
                _wanted(pending),
                work.low_us,
                work.high_us,
                work.since,
                starts,
                pending.work.note,
                pending.work.notes_after,
                number,
                count,
                folder,
            )
            for pending in group
        ]
        for number in range(count)
    ]


def _common(group: Sequence[Pending]) -> Work:
    """The batches and states that the work of a group of windows needs together."""
    works = [pending.work for pending in group]
    positions = tuple(sorted({at for work in works for at in work.positions}))
    return Work(positions, min(work.low_us for work in works), max(work.high_us for work in works), min(work.since for work in works))


def _wanted(pending: Pending) -> dict[int, int]:
    """Position -> start of the batch; the position past the last stands for open windows."""
    batches = pending.history.batches
    return {at: batches[at].interval.start_us if at < len(batches) else 0 for at in pending.work.positions}


def _needed(pending: Pending, work: Work) -> tuple[list[tuple[str, int]], int]:
    """The files of states that the work may need, with the position of their batch; and how many states they hold."""
    position = pending.history.position()
    files, rows = [], 0
    for file in pending.states.files:
        path = parse_states_path(file.path)
        at = position.get(path.batch_us, -1)
        if at < 0 or at > work.positions[-1] or path.low_us is None or path.high_us is None:
            continue
        if path.low_us < work.high_us and (at >= work.since or path.high_us >= work.low_us):
            files.append((file.path, at))
            rows += file.rows
    return files, rows
