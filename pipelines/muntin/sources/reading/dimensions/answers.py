"""The answers that rows get: what was valid for the key of each row at its time, and which versions each
batch met.

Rows are read twice, the first time for their keys and times alone; their answers are then put beside them by
position, so that the order of rows is that of their files. A join would give them in an order of its own, and
sums of doubles other last digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from muntin.engine.versions import met, valid_versions
from muntin.sources.reading.dimensions.dimension import applied, versions_in
from muntin.sources.reading.dimensions.keys_of_rows import KEY, TIME, UNKNOWN, keys_of_rows
from muntin.sources.reading.scan import quoted
from muntin.states.columns import BATCH, INSTANT, ROW_BATCH
from muntin.states.sorted import instants

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from muntin.sources.reading.dimensions.dimension import Dimension, Versions
    from muntin.sources.source import Source
    from muntin.states.frames import Ints

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
    session: duckdb.DuckDBPyConnection, source: Source, rows: str, looks_up: str, batch_us: int | None
) -> tuple[str, pa.Table]:
    """SQL for rows with their answers, and what each batch met.

    `rows` have the same order whatever is read of them; `looks_up`: SQL that is true for rows that look up;
    `batch_us`: start of the batch; None: rows say it themselves, in `ROW_BATCH`.
    """
    dimensions = applied(source)
    answers, lookup_logs = dict[str, pa.Array](), list[pa.Table]()
    for each in dimensions:
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
    """The rows of what was met, batches ascending."""
    batch = instants(lookup_log[BATCH])
    return (
        lookup_log
        if (np.diff(batch) >= 0).all()
        else lookup_log.take(pa.array(np.argsort(batch, kind="stable")))
    )


def _looked_up(
    session: duckdb.DuckDBPyConnection,
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
    ids, times = read[KEY].to_numpy(), read[TIME].to_numpy()
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
    low, high = np.minimum.reduceat(time, at), np.maximum.reduceat(time, at)
    return (_table(dimension, batch[at], keys[at], low, high, np.full(len(at), -1), None),)
