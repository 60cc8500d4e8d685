"""The ids of the batches that came before, and the rows that repeat them.

event time of a row of batch 5        12:00, within = 1h
the id in batch 3, at         10:59   11:00   13:00   13:01
a duplicate                   no      yes     yes     no

Whether the row of batch 3 is a duplicate itself does not matter: which rows of a batch are duplicates follows
from the ids of the batches, not from earlier such decisions. So a replaced batch changes only what is within
its reach.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.jobs.deduplication.changed_rows import Homes, homes
from muntin.jobs.deduplication.event_ids import Ids, read_ids
from muntin.sources.sessions.duckdb_session import any_session
from muntin.store.paths import parse_states_path
from muntin.store.shared_files import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.files.paths import AnyPath
    from muntin.states.frames import Ints
    from muntin.store.store import File
    from muntin.timeline.batches import Flags

_TOGETHER = 2**20
"""So many earlier ids are compared at once."""
_OWN, _EARLIER = "muntin_own", "muntin_earlier"


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
    session = any_session()
    session.register(_OWN, pa.table({**_columns(own), "number": np.arange(len(own))}))
    session.register(_EARLIER, pa.table(_columns(earlier)))
    query = (
        f"SELECT DISTINCT number FROM {_OWN} AS own JOIN {_EARLIER} AS earlier ON own.high = earlier.high AND"
        " own.low = earlier.low AND earlier.batch < own.batch AND own.time - earlier.time BETWEEN"
        f" -{within_us} AND {within_us}"
    )
    try:
        return session.execute(query).fetchnumpy()["number"]
    finally:
        session.unregister(_OWN)
        session.unregister(_EARLIER)


def _columns(ids: Ids) -> dict[str, np.ndarray]:
    return {"batch": ids.batch, "high": ids.high, "low": ids.low, "time": ids.time}
