"""Shards: the work of windows over one set of frames, cut by key, so that each task reads its states once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.definition.kinds import Carried
from pipelines.store.paths import parse_states_path
from pipelines.timeline.work import Work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from pipelines.jobs.bound import Bound
    from pipelines.jobs.pending import Todo

SHARD_ROWS = 900_000


@dataclass(frozen=True, slots=True)
class Shard:
    """One window over the keys of some buckets.

    Attributes:
        bound, window: which.
        files: (path below the frame set's table, position of its batch), in order of arrival.
        schema: of the table of states.
        marks: the watermark after each batch of the history, microseconds.
        wanted: position -> start of the batch, for the batches whose windows are asked for.
        low_us, high_us, since: states between `low_us` and `high_us` matter; of batches from position `since` on earlier ones too.
        starts: of the intervals of all batches of the history, microseconds, and the end of the last.
        carry, snaps: of windows by arrival: files with what they held before `since`, and the positions after which to note that.
        number, count: of this shard, and how many there are.
        staging: folder below the root for the files.
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
    carry: Sequence[str]
    snaps: Sequence[int]
    number: int
    count: int
    staging: str


def shards(bound: Bound, todo: Todo, folder: str) -> list[Shard]:
    """The shards of one window's work."""
    return [shard for together in shards_together(bound, [todo], folder) for shard in together]


def shards_together(bound: Bound, todos: Sequence[Todo], folder: str) -> list[list[Shard]]:
    """For each task the shards, one a window, that read the same states: windows of one frame set and one history."""
    groups = defaultdict(list)
    for todo in todos:
        if todo.work.positions:
            noted = isinstance(bound.windows[todo.window].follows, Carried) or todo.work.carry
            from_ = (todo.work.since, todo.work.carry, todo.work.snaps) if noted else None
            groups[bound.frames_of(todo.window).table, todo.history.batches, todo.marks, from_].append(todo)
    return [shards for group in groups.values() for shards in _of_group(bound, group, folder)]


def _of_group(bound: Bound, group: Sequence[Todo], folder: str) -> list[list[Shard]]:
    works = [todo.work for todo in group]
    positions = tuple(sorted({at for work in works for at in work.positions}))
    since = min(work.since for work in works)
    whole = replace(group[0], work=Work(positions, min(work.low_us for work in works), max(work.high_us for work in works), since))
    files, rows = _needed(whole)
    schema = whole.states.schema
    if schema is None or not (files or works[0].carry) or not set(bound.pipeline.keys) <= set(schema.names):
        return []
    together = not bound.pipeline.keys or any(not bound.windows[todo.window].made_of.apart for todo in group)
    count = 1 if together else max(1, round(rows / SHARD_ROWS))
    batches = whole.history.batches
    starts = [batch.interval.start_us for batch in batches] + [batch.interval.end_us for batch in batches[-1:]]
    bounds = (whole.work.low_us, whole.work.high_us, since, starts)
    return [
        [
            Shard(
                bound,
                todo.window,
                files,
                schema,
                todo.marks,
                _wanted(todo),
                *bounds,
                todo.work.carry,
                todo.work.snaps,
                number,
                count,
                folder,
            )
            for todo in group
        ]
        for number in range(count)
    ]


def _wanted(todo: Todo) -> dict[int, int]:
    """Position -> start of the batch; the position past the last stands for windows that are open."""
    batches = todo.history.batches
    return {at: batches[at].interval.start_us if at < len(batches) else 0 for at in todo.work.positions}


def _needed(todo: Todo) -> tuple[list[tuple[str, int]], int]:
    """The files of states that the work may need, and how many states are in them."""
    position, work = todo.history.position(), todo.work
    files, rows = [], 0
    for file in todo.states.files:
        said = parse_states_path(file.path)
        at = position.get(said.batch_us, -1)
        if at < 0 or at > work.positions[-1] or said.low_us is None or said.high_us is None:
            continue
        if said.low_us < work.high_us and (at >= work.since or said.high_us >= work.low_us):
            files.append((file.path, at))
            rows += file.rows
    return files, rows
