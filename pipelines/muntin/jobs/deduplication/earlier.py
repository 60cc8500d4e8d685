"""The ids of the batches that came before, and the rows that repeat them.

event time of a row of batch 5        12:00, within = 1h
the id in batch 3, at         10:59   11:00   13:00   13:01
a duplicate                   no      yes     yes     no

Whether the row of batch 3 is a duplicate itself does not matter: which rows of a batch are duplicates follows
from the ids of the batches, not from earlier such decisions. So a replaced batch changes only what is within
its reach.

Which rows change rows of earlier batches, and what a batch must be named by so that it is read again when
later batches change its rows.

batch     0          1          2          3
order 7   home                  changes 0
order 8              home                  changes 1            the name of batch 1: of its own ids, and of
this change

An id is at home in the first of the batches within reach that bring it. If no batch within reach does, or
that batch is within reach of a still earlier batch that does, the id is older than a change may be: it is
changed too late. Batches that only change it move nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from muntin.files.paths import AnyPath
from muntin.jobs.deduplication.event_ids import Ids, read_ids
from muntin.sources.sessions.duckdb_session import any_session
from muntin.states.frames import NO_INTS, Flags, Ints
from muntin.states.keys import scattered
from muntin.store.paths import parse_states_path
from muntin.store.shared_files import within
from muntin.store.store import File
from muntin.timeline.batches import Versions

_OWN, _EARLIER = "muntin_own", "muntin_earlier"


class Homes(NamedTuple):
    """For each id: the start of the batch that it is at home in, and whether it is changed too late."""

    batch: Ints
    late: Flags


def homes(own: Ids, earlier: Iterable[Ids], within_us: int) -> Homes:
    """The homes of ids: batches that bring them. Of an id that its batch does not bring, `row` is odd.

    `earlier`: the ids of all batches up to twice the reach `within_us` before, some at a time; the ids of
    `own` may be among them.
    """
    pairs = [_pairs(own, ids) for ids in earlier if len(own)]
    number, batch = (np.concatenate([pair[at] for pair in pairs] or [NO_INTS]) for at in range(2))
    home = own.batch.copy()
    near = batch >= own.batch[number] - within_us
    np.minimum.at(home, number[near], batch[near])
    late = (home == own.batch) & (own.row & 1 == 1)
    older = (home[number] < own.batch[number]) & (batch < home[number]) & (batch >= home[number] - within_us)
    late[number[older]] = True
    return Homes(home, late)


def _pairs(own: Ids, earlier: Ids) -> tuple[Ints, Ints]:
    """Number of an own id, and the start of an earlier batch that brings it, too."""
    columns = _matches("number, earlier.batch AS batch", "", own, earlier.take(earlier.row & 1 == 0))
    return columns["number"], columns["batch"]


def names_of_changes(ids: Ids, homes_of_ids: Homes) -> tuple[Ints, Versions]:
    """The homes of the rows that some ids change, ascending, each with a name of the changes: of their ids,
    batches and rows.
    """
    changing = (homes_of_ids.batch < ids.batch) & ~homes_of_ids.late
    home, at = np.unique(homes_of_ids.batch[changing], return_inverse=True)
    sums = np.zeros(len(home), np.uint64)
    np.add.at(sums, at, _names(ids.take(changing)))
    return home, sums


def name_of_changes(ids: Ids) -> int:
    """The name of the changes that rows with some ids make in a batch; 0 of no rows."""
    return int(_names(ids).sum())


def _names(ids: Ids) -> Versions:
    each = scattered(ids.high)
    for column in (ids.low, ids.row, ids.batch):
        each = scattered(each * np.uint64(31) + column.view(np.uint64))
    return each


def together(decided: int, names: Iterable[int]) -> int:
    """The name of a decision together with names of what else states rest on: changes that later batches
    make, and what rows looked up.
    """
    return (decided + sum(names)) % 2**64 or 1


_TOGETHER = 2**20
"""So many earlier ids are compared at once."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """Files with ids, for tasks.

    Attributes:
        state: the folder of the state.
        files: of the table of ids.
        within_us: how far the event times of duplicates may lie apart; of rows that change earlier rows twice
            how far batches may.
        begins: start of a batch that is read -> start of the first batch that it is compared with.
        left_out: starts of batches that do not count, as they have no states.
        read: files with the ids of batches that the task has read itself; they take the place of the same
            batches' files in `files`.
    """

    state: AnyPath
    files: Sequence[File]
    within_us: int
    begins: Mapping[int, int] = field(default_factory=dict)
    left_out: tuple[int, ...] = ()
    read: tuple[File, ...] = ()

    def ids_of(self, starts: Ints) -> Ids:
        """The ids of some batches, batches ascending. `starts`: ascending."""
        files = (file for file in self.files if len(within(starts, file.path)))
        ids_of_batches = Ids.joined(
            [ids.take(np.isin(ids.batch, starts)) for ids in (read_ids(self.state, file) for file in files)]
        )
        return ids_of_batches.take(np.argsort(ids_of_batches.batch, kind="stable"))

    def repeated(self, own: Ids, begin_us: int) -> Flags:
        """For each id, whether an earlier batch has the id at an event time within reach.

        `own`: ids of batches without a hole between them. `begin_us`: start of the first batch that they are
            compared with.
        """
        is_repeated = np.zeros(len(own), np.bool_)
        if len(own):
            for ids in _in_large_parts(self._near(own, begin_us)):
                is_repeated[_rows(own, ids, self.within_us)] = True
        return is_repeated

    def homes(self, own: Ids, begin_us: int) -> Homes:
        """Where each id is at home, of rows that change earlier rows. Arguments, errors: as `repeated`."""
        return homes(own, self._near(own, begin_us) if len(own) else (), self.within_us // 2)

    def knowing(self, read: Sequence[File]) -> Earlier:
        """The earlier ids together with the ids of batches that the task has read."""
        return replace(self, read=(*self.read, *read)) if read else self

    def _near(self, own: Ids, begin_us: int) -> Iterator[Ids]:
        """The ids of each file that may be repeated."""
        last_us, low, high = (
            int(own.batch.max()),
            int(own.time.min()) - self.within_us,
            int(own.time.max()) + self.within_us,
        )
        replaced = np.array(
            [*self.left_out, *(parse_states_path(file.path).first_us for file in self.read)], np.int64
        )
        for files, left_out in ((self.files, replaced), (self.read, replaced[:0])):
            for file in files:
                path = parse_states_path(file.path)
                in_time = (
                    path.low_us is not None
                    and path.high_us is not None
                    and path.low_us <= high
                    and path.high_us >= low
                )
                if in_time and path.first_us < last_us and path.last_us >= begin_us:
                    ids = read_ids(self.state, file)
                    ids = ids.take(slice(*np.searchsorted(ids.batch, (begin_us, last_us))))
                    yield ids.take((ids.time >= low) & (ids.time <= high) & ~np.isin(ids.batch, left_out))


def _in_large_parts(ids_of_files: Iterator[Ids]) -> Iterator[Ids]:
    near: list[Ids] = []
    for ids in ids_of_files:
        near.append(ids)
        if sum(map(len, near)) >= _TOGETHER:
            yield Ids.joined(near)
            near = []
    if near:
        yield Ids.joined(near)


def _rows(own: Ids, earlier: Ids, within_us: int) -> np.ndarray:
    """Numbers of the own ids that an earlier batch has too."""
    near = f" AND own.time - earlier.time BETWEEN -{within_us} AND {within_us}"
    return _matches("DISTINCT number", near, own, earlier)["number"]


def _matches(chosen: str, more: str, own: Ids, earlier: Ids) -> Mapping[str, np.ndarray]:
    """Columns chosen of each own id (`own`, by `number`) together with an equal id of an earlier batch."""
    session = any_session()
    session.register(_OWN, pa.table({**_columns(own), "number": np.arange(len(own))}))
    session.register(_EARLIER, pa.table(_columns(earlier)))
    query = (
        f"SELECT {chosen} FROM {_OWN} AS own JOIN {_EARLIER} AS earlier ON own.high = earlier.high AND"
        f" own.low = earlier.low AND earlier.batch < own.batch{more}"
    )
    try:
        return session.execute(query).fetchnumpy()
    finally:
        session.unregister(_OWN)
        session.unregister(_EARLIER)


def _columns(ids: Ids) -> dict[str, np.ndarray]:
    return {"batch": ids.batch, "high": ids.high, "low": ids.low, "time": ids.time}
