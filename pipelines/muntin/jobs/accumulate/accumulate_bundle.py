"""Small splits of several batches become states together: a few queries and one file, and the states of each
batch as if it were alone.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from muntin.definition.instants import BEFORE_ALL
from muntin.engine.merged_states import runs
from muntin.errors import SourceError
from muntin.jobs.accumulate.accumulate_split import lifted
from muntin.jobs.accumulate.bundle_states import arranged_batches, encoding, facts
from muntin.jobs.accumulate.forgotten_rows import left_out
from muntin.jobs.accumulate.shares import WrittenSplits, counted_split, keeps_order, manifest, taken
from muntin.jobs.accumulate.windows_together import stage_windows
from muntin.jobs.inputs.dimensions.lookup_log import names_of_met, write_met_of_batches
from muntin.jobs.records.reports import Counts
from muntin.jobs.schema_check.columns_of_files import check_files, lacking_files
from muntin.sources.reading.answers import TIMED, with_answers
from muntin.sources.reading.column_types import column_types
from muntin.sources.reading.lift import tally
from muntin.sources.reading.refused_rows import refused_of_batches
from muntin.sources.reading.row_times import local_time, staged_batches
from muntin.sources.reading.scan import ReadAs, cast_behind, scan, with_casts
from muntin.states.columns import BATCH, INSTANT, LATEST, ROW_BATCH, ROW_IN_SPLIT
from muntin.states.derived_columns import whole_column
from muntin.store.parquet import AS_USUAL
from muntin.store.paths import LOOKED_UP, QUARANTINE
from muntin.store.shared_files import write_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from muntin.definition.frame_sets import FrameSet
    from muntin.jobs.accumulate.bundles import Bundle
    from muntin.jobs.accumulate.shares import Share
    from muntin.sources.source import Columns, Source
    from muntin.states.frames import Ints
    from muntin.store.store import File

_READ, _PLACES, _NUMBER = "muntin_read", "muntin_places", "muntin_number"


class _BundleRows(NamedTuple):
    """A bundle whose rows lie in a table of DuckDB.

    Attributes:
        session: of DuckDB.
        share: what the bundle is of.
        bundle: the splits.
        columns: name -> SQL type of the files' columns.
        rows: SQL for the rows of all batches, as `staged_batches` gives them, with `LATEST`.
        met: what the rows looked up, as `with_answers` gives it; None where they look nothing up.
    """

    session: DuckDBPyConnection
    share: Share
    bundle: Bundle
    columns: Columns
    rows: str
    met: pa.Table | None = None


def accumulate_bundle(session: DuckDBPyConnection, share: Share, bundle: Bundle) -> WrittenSplits:
    """States and refused rows of a bundle, written to files that the batches share.

    It raises if the splits cannot be read together; reading each alone says what is wrong, and where.
    """
    try:
        return _written(_read(session, share, bundle))
    finally:
        session.execute(f"DROP TABLE IF EXISTS {_READ}")
        session.execute(f"DROP TABLE IF EXISTS {TIMED}")
        session.unregister(_PLACES)


def _written(read: _BundleRows) -> WrittenSplits:
    session, share, bundle, columns, rows, met = read
    bound, first, (accepted, newest, odd) = share.bound, bundle.paths[0], _counted(read)
    refused = bundle.rows - accepted
    if refused.any() and bound.source.batch_column:
        raise SourceError(
            f"{first} and others: windows are refused, whose places tell who reads a batch alone"
        )
    if bound.forgotten:  # who reads a batch alone counts their rows
        left = left_out(session, bound, rows, columns, taken(bound))
        if refused.any() or left.rows or left.again:
            raise SourceError(f"{first} and others: rows of forgotten keys")
    state_rows, files = accepted, dict[str, list[Any]]()
    for frames in bound.frame_sets:
        file, state_rows, wider = _write_states(read, frames, newest)
        files[frames.table] = [asdict(file) | {"wider": wider}]
    files[QUARANTINE] = [asdict(_write_refused(read, refused))] if refused.any() else []
    looked_up = write_met_of_batches(bound, met, bundle.starts, bundle.ends)
    files[LOOKED_UP] = [asdict(looked_up)] if looked_up else []
    counts = (each.tolist() for each in (bundle.rows, state_rows, refused, newest, *odd))
    splits = [
        counted_split(
            part.split,
            Counts(number, in_states, lost, 0, ambiguous, nonexistent),
            newest=None if latest == BEFORE_ALL else latest,
            files=manifest(part.files, part.rows, part.split.made),
        )
        for part, number, in_states, lost, latest, ambiguous, nonexistent in zip(
            bundle.parts, *counts, strict=True
        )
    ]
    lacks = lacking_files(session, bound.source, bundle.paths[:1])
    splits[0] |= {
        "columns": [first, list(columns.items())],
        "lacks": {column: list(bundle.paths) for column in lacks},
    }
    return WrittenSplits(splits, files)


def _read(session: DuckDBPyConnection, share: Share, bundle: Bundle) -> _BundleRows:
    """Read every file once; the rows with what they look up."""
    source = share.bound.source
    latest = bundle.ends + share.bound.pipeline.limits.max_ahead_us
    read_as, columns = column_types(session, source, bundle.parts[0].split.paths, share.bound.may_use)
    ordinal, rows, met = keeps_order(share.bound), _READ, None
    if source.batch_column:
        stage_windows(session, source, bundle, latest, _READ, ordinal=ordinal)
    else:
        _keep(session, source, bundle, latest, read_as.left_out)
        rows = with_casts(_READ, {name: each.sql for name, each in cast_behind(source, read_as).items()})
        rows = f"({staged_batches(source, rows, columns, ordinal=ordinal)})"
    if source.lookups:
        session.execute(f"CREATE OR REPLACE TEMP TABLE {TIMED} AS FROM {rows}")
        rows, met = with_answers(session, source, TIMED, taken(share.bound).in_time, None)
    return _BundleRows(session, share, bundle, columns, rows, met)


def _keep(
    session: DuckDBPyConnection, source: Source, bundle: Bundle, latest: Ints, left_out: Sequence[str]
) -> None:
    """Read the files of a bundle into a table. A row's number among all rows tells its batch."""
    counts = bundle.rows
    before = np.cumsum(counts) - counts
    places = {ROW_BATCH: np.repeat(bundle.starts, counts), LATEST: np.repeat(latest, counts)}
    places[ROW_IN_SPLIT] = np.arange(counts.sum()) - np.repeat(before, counts) + 1
    session.register(_PLACES, pa.table(places))
    scan_sql = scan(replace(source, types={}), bundle.paths, ReadAs(left_out=left_out))
    files = f"(SELECT *, row_number() OVER () AS {_NUMBER} FROM {scan_sql})"
    session.execute(f"CREATE TEMP TABLE {_READ} AS FROM {files} POSITIONAL JOIN {_PLACES}")
    read = session.execute(f"SELECT count({_NUMBER}), count(*) FROM {_READ}").fetchall()[0]
    if read != (counts.sum(), counts.sum()):
        raise SourceError(
            f"{bundle.paths[0]} and others: {read[0]} rows, and {counts.sum()} by their footers"
        )


def _counted(read: _BundleRows) -> tuple[Ints, Ints, list[Ints]]:
    """Accepted rows of each batch, its watermark (`BEFORE_ALL` without rows), and its odd local times."""
    session, share, bundle, columns, rows, _ = read
    source, parts = share.bound.source, bundle.parts
    local = local_time(source, source.event_time, columns) is not None
    query = tally(rows, taken(share.bound), local=local, also=[ROW_BATCH])
    counts = session.execute(query).fetchall()
    # the files with rows of the split with the most of them: the files of all splits have the same columns
    with_rows = (
        [path for path, rows in zip(part.split.paths, part.rows, strict=True) if rows] for part in parts
    )
    check_files(session, share.bound, columns, max(with_rows, key=len))
    numbers = np.zeros((3, len(parts)), np.int64)
    at = np.searchsorted(bundle.starts, np.array([row[0] for row in counts], np.int64))
    numbers[:, at] = np.array([(row[2], *row[-2:]) for row in counts], np.int64).reshape(-1, 3).T
    largest = {row[0]: row[3] for row in counts if row[3] is not None}
    watermarks = [
        largest.get(part.split.batch_us, BEFORE_ALL)
        if part.split.watermark_us is None
        else part.split.watermark_us
        for part in parts
    ]
    return numbers[0], np.array(watermarks, np.int64), [*numbers[1:]]


def _write_states(read: _BundleRows, frames: FrameSet, newest: Ints) -> tuple[File, Ints, bool]:
    """The file of a frame set's states, each batch's rows in it, and whether a type is wider than before."""
    bundle, bound = read.bundle, read.share.bound
    keys, times = bound.pipeline.keys, taken(bound)
    table, wider, _ = lifted(
        read.session, read.share, frames, read.rows, read.columns, times, bundle.paths, also=[ROW_BATCH]
    )
    table = arranged_batches(table, keys, frames, bundle)
    table = runs(table, keys, frames.run_us, bound.fields) if frames.run_us else table
    decided = names_of_met(read.met, bundle.starts)
    how = encoding(frames, keys)
    batches = facts(table, bundle.starts, bundle.ends, newest, how, decided, width_us=frames.width_us)
    sums = np.append(0, np.cumsum(whole_column(table, "rows").to_numpy()))
    ends = np.cumsum(batches.rows)
    rows = sums[ends] - sums[ends - batches.rows]
    return write_shared(table, bound.table(frames.table), batches, keys), rows, wider


def _write_refused(read: _BundleRows, refused: Ints) -> File:
    """The file of the quarantine, for the batches with refused rows."""
    bundle, bound = read.bundle, read.share.bound
    query = refused_of_batches(bound.source, read.rows, read.columns, taken(bound))
    table = read.session.sql(query).to_arrow_table()
    batch = table[ROW_BATCH].to_numpy()
    file, _, position = bundle.place(batch, table[ROW_IN_SPLIT].to_numpy() - 1)
    table = table.drop_columns([ROW_BATCH, ROW_IN_SPLIT]).add_column(0, BATCH, pa.array(batch).view(INSTANT))
    table = table.add_column(2, "file", pa.array(bundle.paths).take(file))
    table = table.add_column(3, "position", pa.array(position))
    some = refused > 0
    batches = facts(table, bundle.starts[some], bundle.ends[some], np.full(some.sum(), BEFORE_ALL), AS_USUAL)
    return write_shared(table, bound.table(QUARANTINE), batches)
