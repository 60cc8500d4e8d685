"""The rows of a split without rows that repeat rows of earlier batches; its ids; and the decision on repeated
rows.

Ids are hashes of 128 bits, which are the same in every batch, on every machine and under every version of
DuckDB: MD5 of a text of each column's length and value, so that ("ab", "c") and ("a", "bc") are two ids. Of n
ids, two share a hash with a probability of n^2 / 2^129: of ten billion ids 1.5e-19.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from muntin.errors import SourceError
from muntin.jobs.deduplication.event_ids import Ids, of_batch, write_ids
from muntin.sources.casts import INTEGERS, NO_TYPE
from muntin.sources.reading.scan import quoted
from muntin.sources.repeated_rows import TOO_LATE, to_the_bit
from muntin.states.columns import BROUGHT, EVENT_TIME, ID_HIGH, ID_LOW, ID_ROW, IDENTITY, ORDINAL
from muntin.store.paths import version_of
from muntin.timeline.batches import decided

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duckdb import DuckDBPyConnection

    from muntin.jobs.accumulate.shares import Share, Split
    from muntin.sources.reading.refused_rows import Taken
    from muntin.sources.source import Columns, Source
    from muntin.states.frames import Flags

REPEATED = "muntin_repeated"
_PLACES = "muntin_places"


class ComparedRows(NamedTuple):
    """The result of the comparison.

    Attributes:
        ids: the file of the split's ids: path, size (bytes), rows.
        decided: the name of the decision.
        repeated: how many rows are left out; if there are any, they lie in the table `REPEATED`.
        late: how many of the rows change an earlier row too late; their places lie in the table `TOO_LATE`.
        own: the ids of the rows that are left, and their places: `ID_HIGH`, `ID_LOW`, `ORDINAL`.
    """

    ids: dict[str, Any]
    decided: int
    repeated: int
    late: int = 0
    own: pa.Table | None = None


def without_repeated(
    session: DuckDBPyConnection,
    share: Share,
    split: Split,
    rows: str,
    columns: Columns,
    times: Taken,
) -> ComparedRows:
    """Write the ids of a split, and move the rows that repeat rows of earlier batches to the table
    `REPEATED`.

    `rows`: a table without duplicates of its own, which is changed. Ids of a type that cannot be compared are
    an error.
    """
    id_table = session.sql(ids_of_rows(share.bound.source, rows, columns, times)).to_arrow_table()
    changes = share.bound.source.changes is not None
    ids = of_batch(id_table, split.batch_us, changes=changes)
    written = write_ids(share.bound.folder, ids, split.batch_us, split.number)
    repeated, late = _left_out(share, split, ids, changes=changes)
    if repeated.any():
        _move(session, rows, id_table[ORDINAL].filter(pa.array(repeated)))
    if late.any():
        session.register(_PLACES, id_table.select([ORDINAL]).filter(pa.array(late)))
        session.execute(f"INSERT INTO {TOO_LATE} FROM {_PLACES}")
        session.unregister(_PLACES)
    own = id_table.filter(pa.array(~repeated)).select([ID_HIGH, ID_LOW, ORDINAL]) if changes else None
    return ComparedRows(
        written,
        _decided(written, ids.take(repeated), ids.take(late)),
        int(repeated.sum()),
        int(late.sum()),
        own,
    )


def _left_out(share: Share, split: Split, ids: Ids, *, changes: bool) -> tuple[Flags, Flags]:
    """For each id whether its row is left out, and whether it changes an earlier row too late."""
    nothing = np.zeros(len(ids), np.bool_)
    if not share.earlier:
        return nothing, nothing
    begin_us = share.earlier.begins[split.batch_us]
    if not changes:
        return share.earlier.repeated(ids, begin_us), nothing
    homes = share.earlier.homes(ids, begin_us)
    return (homes.batch < ids.batch) | homes.late, homes.late


def _move(session: DuckDBPyConnection, rows: str, places: pa.ChunkedArray) -> None:
    """Move rows to the table `REPEATED`. `places`: their `ORDINAL`."""
    session.register(_PLACES, pa.table({"place": places}))
    session.execute(
        f"CREATE OR REPLACE TEMP TABLE {REPEATED} AS SELECT * FROM {rows} WHERE {ORDINAL} IN (FROM {_PLACES})"
    )
    session.execute(f"DELETE FROM {rows} WHERE {ORDINAL} IN (FROM {_PLACES})")
    session.unregister(_PLACES)


def of_nothing(share: Share, split: Split) -> ComparedRows:
    """The result for a split without rows."""
    written = write_ids(share.bound.folder, Ids.none(), split.batch_us, split.number)
    return ComparedRows(written, _decided(written, Ids.none(), Ids.none()), 0)


def _decided(written: Mapping[str, Any], repeated: Ids, late: Ids) -> int:
    both = Ids.joined([repeated, late])
    return decided(int(version_of([written["path"]]), 16), both.high, both.low)


_HASH = "muntin_hash"
_AS_TEXT = (*INTEGERS, "VARCHAR", "UUID", "BOOLEAN", "DATE", NO_TYPE)
_INSTANTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP WITH TIME ZONE")


def ids_of_rows(source: Source, rows: str, columns: Columns, times: Taken) -> str:
    """SQL for the id of each row that has one and whose time is taken: `ID_HIGH` and `ID_LOW` (uint64),
    `EVENT_TIME`, `ORDINAL`, and `ID_ROW` (uint64), a hash of what the row says where rows change earlier
    rows; else 0.

    `rows` have the columns that `staged` and `once` add; no two rows have the same id. A column of a type
    whose values have no text of their own, as floats, is refused.
    """
    texts = (_text(name, columns[name]) for name in source.dedupe)
    text = " || ".join(f"length({each}) || ':' || {each}" for each in texts)
    # of what a row says, and odd if its batch does not bring the id, but changes a row that was there
    row_hash = f"hash({', '.join(to_the_bit(name, kind) for name, kind in columns.items())})"
    said = f"(({row_hash} >> 1) << 1) + (NOT {BROUGHT})::UBIGINT" if source.changes else "0::UBIGINT"
    chosen = f"md5_number({text}) AS {_HASH}, {EVENT_TIME}, {ORDINAL}, {said} AS {ID_ROW}"
    hashed = f"SELECT {chosen} FROM {rows} WHERE {IDENTITY} IS NOT NULL AND {times.condition}"
    halves = f"({_HASH} >> 64)::UBIGINT AS {ID_HIGH}, ({_HASH} & {2**64 - 1})::UBIGINT AS {ID_LOW}"
    order = _HASH if source.changes else f"{EVENT_TIME} // {source.dedupe_within_us}, {_HASH}"
    return f"SELECT {halves}, {EVENT_TIME}, {ORDINAL}, {ID_ROW} FROM ({hashed}) ORDER BY {order}"


def _text(name: str, kind: str) -> str:
    column = quoted(name)
    if kind in _AS_TEXT or (kind.startswith("DECIMAL(") and kind.endswith(",0)")):
        return f"{column}::VARCHAR"
    if kind in _INSTANTS:
        return f"epoch_us({column})::VARCHAR"
    if kind == "BLOB":
        return f"hex({column})"
    raise SourceError(
        f"within: {name} is {kind}, whose values may be written in several ways; say another type:"
        f' types={{"{name}": "VARCHAR"}}'
    )
