"""The answers that rows get: what was valid for the key of each row at its time, and which versions each
batch met.

Rows are read twice, the first time for their keys and times alone; their answers are then put beside them by
position, so that the order of rows is that of their files. A join would give them in an order of its own, and
sums of doubles other last digits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from muntin.engine.versions import NEVER, met, valid_versions
from muntin.sources.casts import SIGNED
from muntin.sources.reading.dimension import Dimension, Versions, versions_in
from muntin.sources.reading.dimension_versions import text_hash
from muntin.sources.reading.scan import quoted
from muntin.sources.source import Source
from muntin.states.columns import BATCH, EVENT_TIME, INSTANT, ROW_BATCH
from muntin.states.frames import Ints
from muntin.states.keys import DistinctValues
from muntin.states.sorted import instants

KEY, TIME, UNKNOWN = "muntin_key_number", "muntin_looked_up_at", "muntin_unknown_key"
_KEYS, _PLACE = "muntin_keys", "muntin_place_read"


def keys_of_rows(
    session: DuckDBPyConnection,
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
    if len(dimension.keys) == 1 and dimension.keys[0][1] in SIGNED and len(keys):
        rows_with_ids = _whole_numbers(
            session, keys, f"SELECT r.{quoted(dimension.keys[0][0])} AS {KEY}, {chosen} FROM {rows} AS r"
        )
    return _joined(session, dimension, keys, chosen, rows) if rows_with_ids is None else rows_with_ids


def _whole_numbers(session: DuckDBPyConnection, keys: pa.Table, query: str) -> pa.Table | None:
    """The rows of a query whose keys are whole numbers of up to 64 bits: far faster than a join."""
    read = session.sql(query).to_arrow_table()
    kind = read[KEY].type
    if not pa.types.is_integer(kind) or kind == pa.uint64():
        return None
    key_values = keys["k0"].combine_chunks().cast(pa.int64())
    values = DistinctValues(key_values)
    ids = values.places(read[KEY].cast(pa.int64()).fill_null(key_values[0]).combine_chunks())
    unknown = pa.nulls(len(ids), pa.uint64())
    new = values.values.slice(len(key_values))
    if len(new):
        looks_up = (ids >= len(key_values)) & (read[TIME].to_numpy() != NEVER)
        unknown = _hashes(session, new).take(pa.array(ids - len(key_values), mask=~looks_up))
        ids[ids >= len(key_values)] = -1
    return read.set_column(0, KEY, pa.array(ids)).append_column(UNKNOWN, unknown)


def _hashes(session: DuckDBPyConnection, keys: pa.Array) -> pa.Array:
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
    session: DuckDBPyConnection, dimension: Dimension, keys: pa.Table, chosen: str, rows: str
) -> pa.Table:
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


ANSWERS, TIMED = "muntin_answers", "muntin_timed"
MET = pa.schema(
    [
        (BATCH, INSTANT),
        ("met_lookup", pa.string()),
        ("met_key", pa.int64()),
        ("met_first", INSTANT),
        ("met_last", INSTANT),
        ("met_answer", pa.int64()),
    ]
)
"""The columns of what a batch met: a key, between which event times, and a hash of the values that it found
and their types; null: none.
"""


def with_answers(
    session: DuckDBPyConnection, source: Source, rows: str, looks_up: str, batch_us: int | None
) -> tuple[str, pa.Table]:
    """SQL for rows with their answers, and what each batch met.

    `rows` have the same order whatever is read of them; `looks_up`: SQL that is true for rows that look up;
    `batch_us`: start of the batch; None: rows say it themselves, in `ROW_BATCH`.
    """
    answers = dict[str, pa.Array]()
    lookup_logs = list[pa.Table]()
    for each in source.lookups:
        versions = versions_in(each.path)
        version, of_batch = _looked_up(session, each, versions, rows, looks_up, batch_us)
        values = versions.values.take(pa.array(version, mask=version < 0))
        answers[each.name] = values
        for name in each.flat:
            column = values.type.get_field_index(name.partition(".")[2])
            answers[name] = pa.StructArray.flatten(values)[column]
        lookup_logs.append(of_batch)
    session.register(ANSWERS, pa.table(answers))
    names = ", ".join(map(quoted, answers))
    joined = f"(SELECT r.* EXCLUDE ({names}), a.* FROM {rows} AS r POSITIONAL JOIN {ANSWERS} AS a)"
    return joined, _by_batch(pa.concat_tables(lookup_logs))


def _by_batch(lookup_log: pa.Table) -> pa.Table:
    batch = instants(lookup_log[BATCH])
    return (
        lookup_log
        if (np.diff(batch) >= 0).all()
        else lookup_log.take(pa.array(np.argsort(batch, kind="stable")))
    )


def _looked_up(
    session: DuckDBPyConnection,
    dimension: Dimension,
    versions: Versions,
    rows: str,
    looks_up: str,
    batch_us: int | None,
) -> tuple[Ints, pa.Table]:
    """The version of each row, -1 without one, and what each batch met."""
    read = keys_of_rows(
        session, dimension, versions.keys, rows, looks_up, [ROW_BATCH] if batch_us is None else []
    )
    ids = read[KEY].to_numpy()
    times = read[TIME].to_numpy()
    batches = np.full(len(ids), batch_us, np.int64) if batch_us is not None else read[ROW_BATCH].to_numpy()
    version, stretch = valid_versions(ids, times, versions.first, versions.since, versions.until)
    at, low, high = met(stretch, times, batches, 2 * len(versions.since) + len(versions.key))
    log_of_known_keys = _table(
        dimension, batches[at], versions.key[ids[at]], low, high, version[at], versions
    )
    return version, pa.concat_tables([log_of_known_keys, *_unknown(dimension, read[UNKNOWN], batches, times)])


def _table(
    dimension: Dimension,
    batch: Ints,
    key: Ints,
    low: Ints,
    high: Ints,
    version: Ints,
    versions: Versions | None,
) -> pa.Table:
    hashes = np.append(versions.answer, 0) if versions else np.zeros(1, np.int64)
    answer = pa.array(hashes[version], mask=version < 0)
    started, first, last = (pa.array(each).view(INSTANT) for each in (batch, low, high))
    return pa.table([started, pa.repeat(dimension.name, len(batch)), pa.array(key), first, last, answer], MET)


def _unknown(dimension: Dimension, hashes: pa.ChunkedArray, batches: Ints, times: Ints) -> Sequence[pa.Table]:
    """The keys without a version that batches met.

    `hashes`: of the keys of rows; null: of a key with versions.
    """
    if hashes.null_count == len(hashes):
        return ()
    some = hashes.is_valid().to_numpy()
    keys = hashes.drop_null().to_numpy().view(np.int64)
    batch, time = batches[some], times[some]
    order = np.lexsort((keys, batch))
    keys, batch, time = keys[order], batch[order], time[order]
    at = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]) | (batch[1:] != batch[:-1])]))
    low = np.minimum.reduceat(time, at)
    high = np.maximum.reduceat(time, at)
    return (_table(dimension, batch[at], keys[at], low, high, np.full(len(at), -1), None),)
