"""Batches in columns: what the files of states say of a batch, an array for each fact.

The earlier batches with which the ids of a batch are compared, and names of everything that a comparison
depends on.

batch            0      1      2             3       `within` is 10 minutes
event times      0-59   60-119 100-170       181-240
in reach of 3                  =                     170 >= 181 - 10
in reach of 2    -      =                            59 < 100 - 10

A hole parts batches: history does not go on behind it. As a stretch of neighbours, reach may hold batches too
many, never too few.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from muntin.definition.instants import BEFORE_ALL
from muntin.states.frames import Flags, Ints
from muntin.states.keys import scattered

Versions = np.ndarray[tuple[int], np.dtype[np.uint64]]
BySource = np.ndarray[tuple[int, int], np.dtype[np.int64]]
NO_SOURCES: BySource = np.empty((0, 0), np.int64)
UNDECIDED = 0  # of states whose rows were compared with those of no other batch
_KINDS = {"version": np.uint64, "expired": np.bool_, "decided": np.uint64}
_LAST = (False, UNDECIDED)


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Batches, ascending. Instants in microseconds.

    Attributes:
        start_us, end_us: of the data interval.
        version: a name of the states' content: equal content, equal version (uint64).
        newest_us: the largest event time of the rows, also of rows that `where` leaves out; `BEFORE_ALL`
            without rows.
        low_us, high_us: starts of the first and of the last frame; `AFTER_ALL` and `BEFORE_ALL` without
            states.
        rows: the number of states.
        expired: whether its states are removed, as the definition's `retain` says. All other facts stay.
        decided: a name of the ids of its events and of the rows that were left out of its states as they
            repeat rows of earlier batches; or a name of what its events looked up; `UNDECIDED` where neither
            is (uint64).
        newest_by_source: a row for each batch, a column for each of several sources: the largest event time
            of its rows; `BEFORE_ALL` without rows. No columns where there is one source.
    """

    start_us: Ints
    end_us: Ints
    version: Versions
    newest_us: Ints
    low_us: Ints
    high_us: Ints
    rows: Ints
    expired: Flags
    decided: Versions
    newest_by_source: BySource = field(default_factory=lambda: NO_SOURCES)

    def __post_init__(self) -> None:
        if len(self.newest_by_source) != len(self.start_us):
            object.__setattr__(self, "newest_by_source", np.empty((len(self.start_us), 0), np.int64))

    def __len__(self) -> int:
        return len(self.start_us)

    def take(self, rows: Ints | slice | np.ndarray) -> Batches:
        """Some of the batches: by number, by mask, or a stretch."""
        return Batches(*(getattr(self, name)[rows] for name in _COLUMNS))

    def newest_of(self, source: int) -> Ints:
        """The largest event time of one source, by its number, in each batch; `BEFORE_ALL` without rows."""
        if source < self.newest_by_source.shape[1]:
            return self.newest_by_source[:, source]
        return np.full(len(self), BEFORE_ALL)

    def expiring(self, these: Flags) -> Batches:
        """The batches, of which the given batches lose their states, too."""
        return replace(self, expired=self.expired | these)

    def position(self, starts: Ints) -> Ints:
        """The number of the batch that starts then; -1 where no batch does."""
        return positions_of(starts, self.start_us)

    @staticmethod
    def of(rows: Iterable[Sequence[int]]) -> Batches:
        """The batches from rows of values, in the order of the attributes without the sources.

        A row without the last two values is of a batch that has its states, and is `UNDECIDED`.
        """
        count = len(_PLAIN)
        table = [(*row, *_LAST[len(row) - count :]) if len(row) < count else row for row in rows]
        columns = zip(*table, strict=True) if table else ((),) * count
        return Batches(*(np.array(column, kind) for column, kind in zip(columns, _TYPES, strict=True)))

    @staticmethod
    def joined(parts: Sequence[Batches]) -> Batches:
        """The batches of several parts, ascending. No two parts have the same batch."""
        parts = [part for part in parts if len(part)] or [*parts[:1]] or [Batches.of(())]
        whole = parts[0] if len(parts) == 1 else _concatenated(parts)
        ascending = bool(np.all(whole.start_us[1:] > whole.start_us[:-1]))
        return whole if ascending else whole.take(np.argsort(whole.start_us))


_COLUMNS = tuple(column.name for column in fields(Batches))
_PLAIN = _COLUMNS[:-1]
_TYPES: list[Any] = [_KINDS.get(name, np.int64) for name in _PLAIN]


def _concatenated(parts: Sequence[Batches]) -> Batches:
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in _PLAIN
    }
    return Batches(**columns, newest_by_source=_by_source(parts))


def _by_source(parts: Sequence[Batches]) -> BySource:
    """The columns of the sources of all parts; a part that lacks a column has no rows of this source."""
    width = max(part.newest_by_source.shape[1] for part in parts)
    if not width:
        return np.empty((sum(map(len, parts)), 0), np.int64)
    missing = ((0, width - part.newest_by_source.shape[1]) for part in parts)
    padded = [
        np.pad(part.newest_by_source, ((0, 0), lack), constant_values=BEFORE_ALL)
        for part, lack in zip(parts, missing, strict=True)
    ]
    return np.concatenate(padded)


def positions_of(values: Ints, ascending: Ints) -> Ints:
    """Where each value stands in an ascending array; -1 where it does not."""
    if not len(ascending):
        return np.full(len(values), -1)
    if np.array_equal(
        values, ascending[: len(values)]
    ):  # as with two histories of the same batches, and faster than to search
        return np.arange(len(values))
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.where(ascending[at] == values, at, -1)


def spelled(version: int) -> str:
    """A version as sixteen hexadecimal digits, as paths and reports have it."""
    return f"{int(version):016x}"


Border = Mapping[
    int, int
]  # partition -> offset; a partition that is not in it has no offset before the border


def between_neighbours(noted: Mapping[int, Border], asked: Mapping[int, Border]) -> dict[int, dict[int, int]]:
    """Borders for more instants, so that all borders together never go back.

    `noted`: instant -> its border; never going back. `asked`: other instants -> the offsets that the log
    gives for them.

    >>> between_neighbours({0: {0: 2}, 20: {0: 5}}, {10: {0: 9}, 30: {0: 4, 1: 7}})
    {10: {0: 5}, 30: {0: 5, 1: 7}}
    """
    borders = sorted(noted)
    out = dict[int, dict[int, int]]()
    before: Border = {}
    for instant in sorted(asked):
        at = bisect_left(borders, instant)
        before = highest(before, noted[borders[at - 1]]) if at else before
        after = noted[borders[at]] if at < len(borders) else None
        low_enough = {
            one: offset if after is None else min(offset, after.get(one, 0))
            for one, offset in asked[instant].items()
        }
        before = out[instant] = highest(low_enough, before)
    return out


def highest(one: Border, other: Border) -> dict[int, int]:
    """The higher offset of each partition."""
    return {each: max(one.get(each, 0), other.get(each, 0)) for each in sorted({*one, *other})}


_NAME_BYTES = 8


def first_of_run(start_us: Ints, end_us: Ints) -> Ints:
    """For each batch the position of the first batch of its run without holes.

    `start_us`, `end_us`: of the batches' intervals, ascending.
    """
    begins = np.zeros(len(start_us), np.bool_)
    begins[1:] = start_us[1:] != end_us[:-1]
    return np.maximum.accumulate(np.where(begins, np.arange(len(start_us)), 0))


def first_in_reach(batches: Batches, within_us: int) -> Ints:
    """For each batch the position of the first batch that its ids are compared with; its own position where
    there is none.

    `batches`: of the table of ids; `low_us` and `high_us` are the first and the last event time. `within_us`:
    how far the event times of duplicates may lie apart.
    """
    reached = np.searchsorted(np.maximum.accumulate(batches.high_us), batches.low_us - within_us)
    return np.clip(reached, first_of_run(batches.start_us, batches.end_us), np.arange(len(batches)))


def compared(batches: Batches, first: Ints) -> Versions:
    """For each batch a name of its ids and of the ids in reach; `first`: as of `first_in_reach`."""
    each = scattered(scattered(batches.start_us) ^ batches.version)
    sums = np.append(np.uint64(0), np.cumsum(each, dtype=np.uint64))
    return scattered(scattered(each) ^ (sums[:-1] - sums[first]))


def decided(version: int, high: Ints, low: Ints) -> int:
    """The name of a decision: of the ids of a batch, and of the ids that are duplicates.

    `version`: of the batch in the table of ids. `high`, `low`: the halves of the duplicates' hashes.
    """
    order = np.lexsort((low, high))
    content = b"".join((int(version).to_bytes(8, "little"), high[order].tobytes(), low[order].tobytes()))
    return int.from_bytes(blake2b(content, digest_size=_NAME_BYTES).digest(), "big") or 1
