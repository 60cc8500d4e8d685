"""The keys of rows as numbers: of each row the place of its key among the keys of a dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.engine.versions import NEVER
from muntin.sources.reading.dimensions.reading import text_hash
from muntin.sources.reading.scan import quoted
from muntin.states.columns import EVENT_TIME
from muntin.states.key_dictionary import DistinctValues

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from muntin.sources.reading.dimensions.dimension import Dimension

KEY, TIME, UNKNOWN = "muntin_key_number", "muntin_looked_up_at", "muntin_unknown_key"
_KEYS, _PLACE = "muntin_keys", "muntin_place_read"
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


def keys_of_rows(
    session: duckdb.DuckDBPyConnection,
    dimension: Dimension,
    keys: pa.Table,
    rows: str,
    looks_up: str,
    also: Sequence[str],
) -> pa.Table:
    """The keys and times of rows, in order, with the columns `also`.

    `KEY`: the `id` of the row's key, -1 where the dimension lacks it; of a row that looks nothing up any of
    these. `TIME`: the event time in microseconds, `NEVER` where the row looks nothing up. `UNKNOWN`: a hash
    of the key (unsigned, 64 bits) where the row looks up and the dimension lacks the key, else null. `keys`:
    of the dimension, ascending, columns k0, k1, ..., and `id`, from 0.
    """
    given = " AND ".join(f"r.{quoted(name)} IS NOT NULL" for name, _ in dimension.keys)
    chosen = ", ".join(
        [f"CASE WHEN {looks_up} AND {given} THEN {EVENT_TIME} ELSE {NEVER} END AS {TIME}", *also]
    )
    rows_with_ids = None
    if len(dimension.keys) == 1 and dimension.keys[0][1] in _WHOLE and len(keys):
        rows_with_ids = _whole_numbers(
            session, keys, f"SELECT r.{quoted(dimension.keys[0][0])} AS {KEY}, {chosen} FROM {rows} AS r"
        )
    return _joined(session, dimension, keys, chosen, rows) if rows_with_ids is None else rows_with_ids


def _whole_numbers(session: duckdb.DuckDBPyConnection, keys: pa.Table, query: str) -> pa.Table | None:
    """The rows of a query, where their keys are whole numbers of up to 64 bits: numbered in a fraction of the
    time of a join.
    """
    read = session.sql(query).to_arrow_table()
    kind = read[KEY].type
    if not pa.types.is_integer(kind) or kind == pa.uint64():
        return None
    key_values = keys["k0"].combine_chunks().cast(pa.int64())
    values = DistinctValues(key_values)
    ids = values.places(read[KEY].cast(pa.int64()).fill_null(key_values[0]).combine_chunks())
    unknown, new = pa.nulls(len(ids), pa.uint64()), values.values.slice(len(key_values))
    if len(new):
        looks_up = (ids >= len(key_values)) & (read[TIME].to_numpy() != NEVER)
        unknown = _hashes(session, new).take(pa.array(ids - len(key_values), mask=~looks_up))
        ids[ids >= len(key_values)] = -1
    return read.set_column(0, KEY, pa.array(ids)).append_column(UNKNOWN, unknown)


def _hashes(session: duckdb.DuckDBPyConnection, keys: pa.Array) -> pa.Array:
    session.register(_KEYS, pa.table({"k0": keys}))
    try:
        return (
            session.sql(f"SELECT {text_hash(['k0'])} AS hash FROM {_KEYS}")
            .to_arrow_table()["hash"]
            .combine_chunks()
        )
    finally:
        session.unregister(_KEYS)


def _joined(
    session: duckdb.DuckDBPyConnection, dimension: Dimension, keys: pa.Table, chosen: str, rows: str
) -> pa.Table:
    """The rows with keys of any types."""
    ours = [f"{KEY}_{at}" for at in range(len(dimension.keys))]
    key_columns = ", ".join(
        f"r.{quoted(name)} AS {column}" for column, (name, _) in zip(ours, dimension.keys, strict=True)
    )
    same = " AND ".join(
        f"k.k{at}::{kind} = r.{quoted(name)}" for at, (name, kind) in enumerate(dimension.keys)
    )
    number = f"(SELECT k.id FROM {_KEYS} AS k WHERE {same}) AS {KEY}"
    inner = f"SELECT row_number() OVER () AS {_PLACE}, {number}, {key_columns}, {chosen} FROM {rows} AS r"
    unknown = f"CASE WHEN {KEY} IS NULL AND {TIME} <> {NEVER} THEN {text_hash(ours)} END AS {UNKNOWN}"
    others = f"* EXCLUDE ({', '.join(ours)}) REPLACE (coalesce({KEY}, -1)::BIGINT AS {KEY})"
    session.register(_KEYS, keys)
    try:
        rows_with_ids = session.sql(f"SELECT {others}, {unknown} FROM ({inner})").to_arrow_table()
    finally:
        session.unregister(_KEYS)
    in_order = (np.diff(rows_with_ids[_PLACE].to_numpy()) > 0).all()
    # a join that spilled gives rows in another order
    return rows_with_ids if in_order else rows_with_ids.sort_by(_PLACE)
