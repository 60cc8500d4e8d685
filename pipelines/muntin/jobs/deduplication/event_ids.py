"""The table of ids: of each batch the ids of its events as hashes, in files like the files of states.

A batch has an id once, with the event time of the row that was the first of its batch to bring it. Which rows
of other batches count is not part of it: ids follow from the source alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.files.paths import AnyPath
from muntin.files.readable import opened
from muntin.files.weighted_cache import weighted_cache
from muntin.states.columns import BATCH, EVENT_TIME, ID_HIGH, ID_LOW, ID_ROW, ID_TIME, INSTANT
from muntin.states.frames import NO_INTS, Ints
from muntin.states.sorted import instants
from muntin.store.contents import whole_content
from muntin.store.parquet import Encoding, write_named
from muntin.store.paths import IDS, StatesPath
from muntin.store.store import File, Texts

SCHEMA = pa.schema(
    [(BATCH, INSTANT), (ID_HIGH, pa.int64()), (ID_LOW, pa.int64()), (ID_TIME, INSTANT), (ID_ROW, pa.int64())]
)
TEXTS = Texts(
    "ids",
    "Ids of the events of each batch, by which later batches find duplicates",
    {
        BATCH: "start of the interval of the batch that brought the event, UTC",
        ID_HIGH: "the first half of a hash of the id",
        ID_LOW: "the second half",
        ID_TIME: "the event time, UTC; where rows change others, the start of the interval",
        ID_ROW: "where rows change others, a hash of the last row of the id",
    },
)
# bytes of ids that are kept in memory, as neighbouring batches ask for the same files; of a file that is kept
_KEPT, _LARGE = 2**27, 2**23


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """Ids of events, columns of integers: start of the batch and event time (microseconds), the halves of the
    hash, and of the row.
    """

    batch: Ints
    high: Ints
    low: Ints
    time: Ints
    row: Ints

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, rows: Any) -> Ids:  # noqa: ANN401 - whatever chooses rows of an array
        """Some of them: by number, by mask, or a stretch."""
        return Ids(*(getattr(self, column.name)[rows] for column in fields(self)))

    def halves(self) -> pa.Table:
        """The halves of the hashes, as `ids_of_rows` gives them."""
        return pa.table({ID_HIGH: self.high.view(np.uint64), ID_LOW: self.low.view(np.uint64)})

    @staticmethod
    def none() -> Ids:
        return Ids(*(NO_INTS for _ in fields(Ids)))

    @staticmethod
    def joined(parts: list[Ids]) -> Ids:
        return Ids(
            *(
                np.concatenate([getattr(part, column.name) for part in parts or [Ids.none()]])
                for column in fields(Ids)
            )
        )


def of_batch(table: pa.Table, batch_us: int, *, changes: bool) -> Ids:
    """The ids of a batch. `table`: as `ids_of_rows` gives it. `changes`: whether rows change earlier rows."""
    high, low, row = (table[name].to_numpy().view(np.int64) for name in (ID_HIGH, ID_LOW, ID_ROW))
    batch = np.full(len(table), batch_us)
    return Ids(batch, high, low, batch if changes else table[EVENT_TIME].to_numpy(), row)


def write_ids(state: AnyPath, ids: Ids, batch_us: int, split: int) -> dict[str, Any]:
    """Write the ids of a split; the file: path, size (bytes) and rows."""
    low, high = (int(ids.time.min()), int(ids.time.max())) if len(ids) else (None, None)
    name = StatesPath(batch_us, split, high, low, high).named
    batch, time = (pa.array(each).view(INSTANT) for each in (ids.batch, ids.time))
    table = pa.table([batch, pa.array(ids.high), pa.array(ids.low), time, pa.array(ids.row)], SCHEMA)
    return write_named(table, state / IDS, name, Encoding([BATCH]))


def read_ids(state: AnyPath, file: File) -> Ids:
    """The ids in a file, batches ascending."""
    return (_kept if file.size <= _LARGE else _read)(state, file)


def _read(state: AnyPath, file: File) -> Ids:
    table = opened(whole_content(state / IDS, file)).read()
    high, low, row = (table[name].to_numpy() for name in (ID_HIGH, ID_LOW, ID_ROW))
    ids = Ids(instants(table[BATCH]), high, low, instants(table[ID_TIME]), row)
    return ids if (np.diff(ids.batch) >= 0).all() else ids.take(np.argsort(ids.batch, kind="stable"))


_kept = weighted_cache(_KEPT, lambda ids: 5 * ids.batch.nbytes)(_read)
