"""How many windows are open, and since when: they have events, and no batch that is published closes them.

Windows on a grid are counted from the frames of keys alone. A frame opens its windows that begin after the
key's frame before it:

frames    0    10        30        windows of 20, every 10; open: windows that end after 0
windows [-10, 10)                  frame 0 opens 2
            [0, 20)                frame 10 opens 1: [0, 20) is there
                [10, 30)
                    [20, 40)       frame 30 opens 2: both begin after 10
                        [30, 50)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Bounded, Carried, Chained, Unending
from muntin.files.readable import opened
from muntin.jobs.finalize.shard import shards
from muntin.jobs.inspect.selection import instant
from muntin.jobs.published.pending import Pending
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BATCH, FRAME, INSTANT
from muntin.states.frames import Ints
from muntin.store.paths import parse_states_path
from muntin.store.reading import dataset_of
from muntin.timeline.carried import from_note
from muntin.timeline.closing import closing
from muntin.timeline.history import Work
from muntin.windows.kind import Window

STATES = 200_000
"""So many states are read at most to count windows on a grid."""
DERIVED = 20_000
"""So many at most where windows must be derived to be counted."""
_SPANS = 1_000_000
_NONE = BEFORE_ALL


def open_count(bound: Bound, todo: Pending) -> int | None:
    """The number of open windows of all keys; None if nothing is published, or if too many states would have
    to be read.

    It is counted once for each batch: the next reading of the same tables takes it from memory.
    """
    answer = _remembered(bound.folder, todo.window, todo.states.version, todo.published.head)
    if not answer:
        answer.append(_counted(bound, todo))
    return answer[0]


@lru_cache(maxsize=1024)
def _remembered(_folder: str, _window: str, _states: int, _published: str | None) -> list[int | None]:
    """The place of an answer, by what the tables are at the moment.

    The tables themselves, of a long history, are not held on to.
    """
    return []


def _counted(bound: Bound, todo: Pending) -> int | None:
    kind, ledger = bound.windows[todo.window], todo.published.ledger
    if not ledger or not len(ledger.entries):
        return None
    if kind.grid is None:
        return _derived(bound, todo)
    floor = int(closing(kind, ledger.entries.watermark_us).floor[-1])
    low = (
        max(floor - kind.follows.longest_us, BEFORE_ALL) if isinstance(kind.follows, Bounded) else BEFORE_ALL
    )
    near = [
        file
        for file in todo.states.files
        if (high := parse_states_path(file.path).high_us) is not None and high >= low
    ]
    if sum(file.rows for file in near) > STATES:
        return None
    folder = bound.table(bound.frames_of(todo.window).table)
    last = int(todo.history.batches.start_us[-1])  # batches beyond a hole wait
    return _opened(
        kind, floor, _steps([f"{folder}/{file.path}" for file in near], bound.keys_of(todo.window), low, last)
    )


def _steps(
    paths: Sequence[str], keys: Sequence[str], low_us: int, last_us: int
) -> list[tuple[int, int | None, int]]:
    """(start of a frame, of the key's frame before it, number of keys), of the frames from `low_us` on and of
    batches up to `last_us`.
    """
    if not paths:
        return []
    wanted = (pc.field(FRAME) >= instant(low_us)) & (pc.field(BATCH) <= instant(last_us))
    tables = [
        opened(path).read([*keys, FRAME, BATCH]).filter(wanted).select([*keys, FRAME]) for path in paths
    ]
    frames = pa.concat_tables(tables, promote_options="permissive")
    return steps_of(
        _numbered([frames[key] for key in keys], len(frames)), frames[FRAME].cast(pa.int64()).to_numpy()
    )


def _numbered(columns: Sequence[pa.ChunkedArray], rows: int) -> Ints:
    """A number for the key of each row; nulls are a value as any other."""
    numbers = np.zeros(rows, np.int64)
    for column in columns:
        values = column.combine_chunks().dictionary_encode(null_encoding="encode")
        both = numbers * max(1, len(values.dictionary)) + values.indices.to_numpy()
        numbers = np.unique(both, return_inverse=True)[1]
    return numbers


def steps_of(keys: Ints, frames: Ints) -> list[tuple[int, int | None, int]]:
    """(start of a frame, of the key's frame before it, number of keys), from the key and the frame of each
    state.
    """
    order = np.lexsort((frames, keys))
    keys, frames = keys[order], frames[order]
    same = keys[1:] == keys[:-1]
    new = np.append(np.ones(min(1, len(keys)), np.bool_), ~same | (frames[1:] != frames[:-1]))
    before = np.append(np.full(min(1, len(keys)), _NONE), np.where(same, frames[:-1], _NONE))
    frame, of_frame = np.unique(frames[new], return_inverse=True)
    earlier, of_earlier = np.unique(before[new], return_inverse=True)
    pairs, counts = np.unique(of_frame * max(1, len(earlier)) + of_earlier, return_counts=True)
    at, back = np.divmod(pairs, max(1, len(earlier)))
    steps = zip(frame[at].tolist(), earlier[back].tolist(), counts.tolist(), strict=True)
    return [(start, None if previous == _NONE else previous, count) for start, previous, count in steps]


def _opened(kind: Window, floor: int, steps: Iterable[tuple[int, int | None, int]]) -> int | None:
    """The number of windows that end after the floor."""
    total, spans = 0, 0
    starts: dict[int, list[int]] = {}
    for frame, before, keys in steps:
        if frame not in starts:
            starts[frame] = sorted(start for start, end in kind.windows_for(frame) if end > floor)
            spans += len(starts[frame])
        if spans > _SPANS:
            return None
        total += keys * (
            len(starts[frame]) - (bisect_right(starts[frame], before) if before is not None else 0)
        )
    return total


def _derived(bound: Bound, todo: Pending) -> int | None:
    """The number of windows that are open when all are derived that may be."""
    # with the kernels, which windows on a grid do without
    from muntin.jobs.finalize.finalize_task import combined_shard
    from muntin.jobs.inspect.one_key import one_row_each

    count, batches = len(todo.history.batches), todo.published.ledger
    follows = bound.windows[todo.window].follows
    last = np.array([count])
    if isinstance(follows, Carried):
        stale = int(todo.work.positions[0]) if todo.work else count
        work = from_note(count, batches, last, min(stale, count))
    else:
        since = (
            int(batches.entries.open_us[-1])
            if batches and isinstance(follows, Chained) and not todo.work
            else BEFORE_ALL
        )
        work = Work(last, since, AFTER_ALL)
    one_row = one_row_each(bound, todo.window)
    open_shards = shards(one_row, replace(todo, work=work), "")
    rows = {file.path: file.rows for file in todo.states.files}
    if sum(rows[path] for shard in open_shards[:1] for path in shard.files) > DERIVED:
        return None
    return sum(int((combined_shard(shard).closed >= count).sum()) for shard in open_shards)


def open_since(bound: Bound, pending: Pending) -> int | None:
    """The earliest start of an open window; None if no window is open.

    For `Bounded` windows it follows from the frames of states.
    """
    window, ledger = bound.windows[pending.window], pending.published.ledger
    if not ledger or not len(ledger.entries):
        return None
    if not isinstance(window.follows, Bounded):
        since = (
            pending.history.batches.low_us
            if isinstance(window.follows, Unending)
            else ledger.entries.open_us[-1:]
        )
        earliest = int(since.min(initial=AFTER_ALL))
        return None if earliest == AFTER_ALL else earliest
    floor = int(closing(window, ledger.entries.watermark_us).floor[-1])
    table = bound.frames_of(pending.window).table
    low = max(floor - window.follows.longest_us, BEFORE_ALL)
    highs = ((file.path, parse_states_path(file.path).high_us) for file in pending.states.files)
    paths = [
        f"{bound.folder}/{table}/{path}" for path, high_us in highs if high_us is not None and high_us >= low
    ]
    starts = (
        start for frame in _frames(paths, low) for start, end in window.windows_for(frame) if end > floor
    )
    return next(starts, None)


def _frames(paths: list[str], low_us: int) -> list[int]:
    """The starts of the frames from `low_us` on, ascending."""
    if not paths:
        return []
    frames = dataset_of(paths, pa.schema([(FRAME, INSTANT)])).to_table(
        columns=[FRAME], filter=pc.field(FRAME) >= instant(low_us)
    )[FRAME]
    return sorted(frames.cast(pa.int64()).unique().to_pylist())
