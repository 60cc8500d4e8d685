"""The rows of a split without rows that repeat rows of earlier batches; its ids; and the decision on repeated rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from muntin.jobs.deduplication.event_ids import Ids, of_batch, write_ids
from muntin.sources.reading.event_ids import ids_of_rows
from muntin.states.columns import ORDINAL
from muntin.store.paths import version_of
from muntin.timeline.deduplication import decided

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from muntin.jobs.accumulate.shares import Share, Split
    from muntin.sources.reading.taken_times import Taken

REPEATED = "muntin_repeated"
_PLACES = "muntin_places"


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """The result of the comparison.

    Attributes:
        ids: the file of the split's ids: path, size (bytes), rows.
        decided: the name of the decision.
        repeated: how many rows are left out; if there are any, they lie in the table `REPEATED`.
    """

    ids: dict[str, Any]
    decided: int
    repeated: int


def without_repeated(
    session: duckdb.DuckDBPyConnection, share: Share, split: Split, rows: str, columns: Mapping[str, str], times: Taken
) -> ComparedRows:
    """Write the ids of a split, and move the rows that repeat rows of earlier batches to the table `REPEATED`.

    Args:
        session: of DuckDB.
        share, split: of the rows.
        rows: a table without duplicates of its own, which is changed.
        columns: name -> SQL type of the source's columns.
        times: the times that the batch takes.

    Raises:
        SourceError: ids are of a type that cannot be compared.
        StateError: ids of earlier batches are gone or damaged.
    """
    found = session.sql(ids_of_rows(share.bound.source, rows, columns, times)).to_arrow_table()
    ids = of_batch(found, split.batch_us)
    written = write_ids(share.bound.folder, ids, split.batch_us, split.number)
    repeated = share.earlier.repeated(ids, share.earlier.begins[split.batch_us]) if share.earlier else np.zeros(len(ids), np.bool_)
    if repeated.any():
        _move(session, rows, found[ORDINAL].filter(pa.array(repeated)))
    return ComparedRows(written, _decided(written, ids.take(repeated)), int(repeated.sum()))


def _move(session: duckdb.DuckDBPyConnection, rows: str, places: pa.ChunkedArray) -> None:
    """Move rows to the table `REPEATED`. `places`: their `ORDINAL`."""
    session.register(_PLACES, pa.table({"place": places}))
    session.execute(f"CREATE OR REPLACE TEMP TABLE {REPEATED} AS SELECT * FROM {rows} WHERE {ORDINAL} IN (FROM {_PLACES})")
    session.execute(f"DELETE FROM {rows} WHERE {ORDINAL} IN (FROM {_PLACES})")
    session.unregister(_PLACES)


def of_nothing(share: Share, split: Split) -> ComparedRows:
    """The result for a split without rows."""
    written = write_ids(share.bound.folder, Ids.none(), split.batch_us, split.number)
    return ComparedRows(written, _decided(written, Ids.none()), 0)


def _decided(written: Mapping[str, Any], repeated: Ids) -> int:
    return decided(int(version_of([written["path"]]), 16), repeated.high, repeated.low)
