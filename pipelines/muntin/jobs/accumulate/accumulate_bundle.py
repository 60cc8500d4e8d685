"""Small splits of several batches become states together: a few queries and one file, and the states of each
batch as if it were alone.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from muntin.aggregates.aggregate import sealed
from muntin.definition.instants import BEFORE_ALL
from muntin.engine.merged_states import runs
from muntin.errors import SourceError
from muntin.jobs.accumulate.bundle_states import arranged_batches, encoding, facts
from muntin.jobs.accumulate.forgotten_rows import left_out
from muntin.jobs.accumulate.shares import Written, keeps_order, manifest, taken_of_batches
from muntin.jobs.accumulate.types_of_states import types_of_states
from muntin.jobs.accumulate.windows_together import stage_windows
from muntin.jobs.inputs.dimensions.met_rows import names_of_met, write_met_of_batches
from muntin.jobs.schema_check.columns_of_files import check_files, lacking_files
from muntin.sources.reading.column_types import told_columns
from muntin.sources.reading.dimensions.answers import TIMED, with_answers
from muntin.sources.reading.dimensions.dimension import applied
from muntin.sources.reading.lift import rows_as_states, states, tally
from muntin.sources.reading.refused_rows import refused_of_batches
from muntin.sources.reading.row_times import local_time, staged_batches
from muntin.sources.reading.scan import Reading, cast_behind, scan, with_casts
from muntin.sources.reading.sql_types import stored
from muntin.sources.sessions.duckdb_session import described
from muntin.states.columns import BATCH, INSTANT, LATEST, ROW_BATCH, ROW_IN_SPLIT
from muntin.states.derived_columns import whole_column
from muntin.store.parquet import AS_USUAL
from muntin.store.paths import QUARANTINE
from muntin.store.shared_files import write_shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from muntin.definition.frame_sets import FrameSet
    from muntin.jobs.accumulate.bundles import Bundle
    from muntin.jobs.accumulate.shares import Share
    from muntin.sources.source import Source
    from muntin.states.frames import Ints
    from muntin.store.store import File

_READ, _PLACES, _NUMBER = "muntin_read", "muntin_places", "muntin_number"


@dataclass(frozen=True, slots=True)
class _Reading:
    """A bundle whose rows lie in a table of DuckDB.

    Attributes:
        session: of DuckDB.
        share: what the bundle is of.
        bundle: the splits.
        columns: name -> SQL type of the files' columns.
        rows: SQL for the rows of all batches, as `staged_batches` gives them, with `LATEST`.
        met: what the rows looked up, as `with_answers` gives it; None where they look nothing up.
    """

    session: duckdb.DuckDBPyConnection
    share: Share
    bundle: Bundle
    columns: Mapping[str, str]
    rows: str
    met: pa.Table | None = None


def accumulate_bundle(session: duckdb.DuckDBPyConnection, share: Share, bundle: Bundle) -> Written:
    """States and refused rows of a bundle, written to files that the batches share.

    It raises if the splits cannot be read together; reading each alone says what is wrong, and where.
    """
    try:
        return _written(_answered(_read(session, share, bundle)))
    finally:
        session.execute(f"DROP TABLE IF EXISTS {_READ}")
        session.execute(f"DROP TABLE IF EXISTS {TIMED}")
        session.unregister(_PLACES)


def _written(reading: _Reading) -> Written:
    bundle, (accepted, newest, odd) = reading.bundle, _counted(reading)
    if reading.share.bound.source.batch_column and (bundle.rows > accepted).any():
        raise SourceError(
            f"{bundle.paths[0]} and others: windows are refused, whose places tell who reads a batch alone"
        )
    _check_none_is_forgotten(reading, refused=bool((bundle.rows > accepted).any()))
    refused, state_rows, state_files = bundle.rows - accepted, accepted, dict[str, list[dict[str, Any]]]()
    for frames in reading.share.bound.frame_sets:
        file, state_rows, wider = _write_states(reading, frames, newest)
        state_files[frames.table] = [asdict(file) | {"wider": wider}]
    lost = [asdict(_write_refused(reading, refused))] if refused.any() else []
    splits = _splits(bundle, state_rows, refused, newest, odd)
    lacks = lacking_files(reading.session, reading.share.bound.source, bundle.paths[:1])
    splits[0] |= {
        "columns": [bundle.paths[0], list(reading.columns.items())],
        "lacks": {column: list(bundle.paths) for column in lacks},
    }
    met = write_met_of_batches(reading.share.bound, reading.met, bundle.starts, bundle.ends)
    return Written(splits, state_files, lost, met=[asdict(met)] if met else [])


def _check_none_is_forgotten(reading: _Reading, *, refused: bool) -> None:
    """Refuse a bundle with rows of forgotten keys, or with refused rows where keys are forgotten: who reads a
    batch alone counts them.
    """
    bound = reading.share.bound
    if not bound.forgotten:
        return
    left = left_out(reading.session, bound, reading.rows, reading.columns, taken_of_batches(bound))
    if refused or left.rows or left.again:
        raise SourceError(f"{reading.bundle.paths[0]} and others: rows of forgotten keys")


def _read(session: duckdb.DuckDBPyConnection, share: Share, bundle: Bundle) -> _Reading:
    """Read every file once."""
    source, latest = share.bound.source, bundle.ends + share.bound.pipeline.limits.max_ahead_us
    read_as, columns = told_columns(session, source, bundle.parts[0].split.paths, share.bound.may_use)
    ordinal = keeps_order(share.bound)
    if source.batch_column:
        stage_windows(session, source, bundle, latest, _READ, ordinal=ordinal)
        return _Reading(session, share, bundle, columns, _READ)
    _keep(session, source, bundle, latest, read_as.left_out)
    rows = with_casts(_READ, {name: each.sql for name, each in cast_behind(source, read_as).items()})
    return _Reading(
        session, share, bundle, columns, f"({staged_batches(source, rows, columns, ordinal=ordinal)})"
    )


def _answered(reading: _Reading) -> _Reading:
    """The rows with what they look up."""
    source = reading.share.bound.source
    if not applied(source):
        return reading
    reading.session.execute(f"CREATE OR REPLACE TEMP TABLE {TIMED} AS FROM {reading.rows}")
    rows, met = with_answers(
        reading.session, source, TIMED, taken_of_batches(reading.share.bound).in_time, None
    )
    return replace(reading, rows=rows, met=met)


def _keep(
    session: duckdb.DuckDBPyConnection, source: Source, bundle: Bundle, latest: Ints, left_out: Sequence[str]
) -> None:
    """Read the files of a bundle into a table. A row's number among all rows tells its batch."""
    counts = bundle.rows
    before = np.cumsum(counts) - counts
    places = {ROW_BATCH: np.repeat(bundle.starts, counts), LATEST: np.repeat(latest, counts)}
    places[ROW_IN_SPLIT] = np.arange(counts.sum()) - np.repeat(before, counts) + 1
    session.register(_PLACES, pa.table(places))
    scan_sql = scan(replace(source, types={}), bundle.paths, Reading(left_out=left_out))
    files = f"(SELECT *, row_number() OVER () AS {_NUMBER} FROM {scan_sql})"
    session.execute(f"CREATE TEMP TABLE {_READ} AS FROM {files} POSITIONAL JOIN {_PLACES}")
    read = session.execute(f"SELECT count({_NUMBER}), count(*) FROM {_READ}").fetchall()[0]
    if read != (counts.sum(), counts.sum()):
        raise SourceError(
            f"{bundle.paths[0]} and others: {read[0]} rows, and {counts.sum()} by their footers"
        )


def _counted(reading: _Reading) -> tuple[Ints, Ints, list[Ints]]:
    """For each batch the number of accepted rows, their largest event time, `BEFORE_ALL` without rows, and
    how many local times are odd.
    """
    bundle, source = reading.bundle, reading.share.bound.source
    local = local_time(source, source.event_time, reading.columns) is not None
    counts = reading.session.execute(
        tally(reading.rows, taken_of_batches(reading.share.bound), local=local, also=[ROW_BATCH])
    ).fetchall()
    check_files(reading.session, reading.share.bound, reading.columns, _most_paths(bundle))
    odd = [np.zeros(len(bundle.parts), np.int64) for _ in range(2)]
    starts, accepted, newest = (
        bundle.starts,
        np.zeros(len(bundle.parts), np.int64),
        np.full(len(bundle.parts), BEFORE_ALL),
    )
    at = np.searchsorted(starts, np.array([row[0] for row in counts], np.int64))
    accepted[at] = [row[2] for row in counts]
    newest[at] = [BEFORE_ALL if row[3] is None else row[3] for row in counts]
    for number, each in enumerate(odd, -2):
        each[at] = [row[number] for row in counts]
    given = [part.split.watermark_us for part in bundle.parts]
    watermarks = np.array(
        [latest if own is None else own for latest, own in zip(newest.tolist(), given, strict=True)], np.int64
    )
    return accepted, watermarks, odd


def _most_paths(bundle: Bundle) -> list[str]:
    """The files with rows of the split with the most of them: the files of all splits
    have the same columns.
    """
    paths_of_parts = (
        [path for path, rows in zip(part.split.paths, part.rows, strict=True) if rows]
        for part in bundle.parts
    )
    return max(paths_of_parts, key=len)


def _write_states(reading: _Reading, frames: FrameSet, newest: Ints) -> tuple[File, Ints, bool]:
    """The file of a frame set's states, how many rows of each batch are in them, and whether a type is wider
    than in the state.
    """
    share, bundle, bound = reading.share, reading.bundle, reading.share.bound
    keys = bound.pipeline.keys
    asked = (bound.pipeline, bound.fields, frames, reading.rows, taken_of_batches(bound), reading.columns)
    query = states(*asked, also=[ROW_BATCH])
    natural = described(reading.session, query)
    kinds, wider = types_of_states(natural, share, frames, bundle.paths)
    if rows := rows_as_states(*asked, (natural, kinds), also=[ROW_BATCH]):
        table = stored(reading.session, rows.query, rows.kinds, natural).replace_schema_metadata(rows.footer)
    else:
        table = sealed(stored(reading.session, query, kinds, natural), bound.fields)
    table = arranged_batches(table, keys, frames, bundle)
    table = runs(table, keys, frames.run_us, bound.fields) if frames.run_us else table
    decided = names_of_met(reading.met, bundle.starts)
    batches = facts(
        table, bundle.starts, bundle.ends, newest, encoding(frames, keys), decided, width_us=frames.width_us
    )
    sums = np.append(0, np.cumsum(whole_column(table, "rows").to_numpy()))
    ends = np.cumsum(batches.rows)
    return (
        write_shared(table, bound.table(frames.table), batches, keys),
        sums[ends] - sums[ends - batches.rows],
        wider,
    )


def _write_refused(reading: _Reading, refused: Ints) -> File:
    """The file of the quarantine, for the batches with refused rows."""
    bundle, bound = reading.bundle, reading.share.bound
    query = refused_of_batches(bound.source, reading.rows, reading.columns, taken_of_batches(bound))
    table = reading.session.sql(query).to_arrow_table()
    batch = table[ROW_BATCH].to_numpy()
    file, _, position = bundle.place(batch, table[ROW_IN_SPLIT].to_numpy() - 1)
    table = table.drop_columns([ROW_BATCH, ROW_IN_SPLIT]).add_column(0, BATCH, pa.array(batch).view(INSTANT))
    table = table.add_column(2, "file", pa.array(bundle.paths).take(file)).add_column(
        3, "position", pa.array(position)
    )
    some = refused > 0
    batches = facts(table, bundle.starts[some], bundle.ends[some], np.full(some.sum(), BEFORE_ALL), AS_USUAL)
    return write_shared(table, bound.table(QUARANTINE), batches)


def _splits(
    bundle: Bundle, state_rows: Ints, refused: Ints, newest: Ints, odd: Sequence[Ints]
) -> list[dict[str, Any]]:
    columns = (
        bundle.rows.tolist(),
        state_rows.tolist(),
        refused.tolist(),
        newest.tolist(),
        *(each.tolist() for each in odd),
    )
    return [
        {
            "batch": part.split.batch_us,
            "split": part.split.number,
            "read": read,
            "taken": rows,
            "newest": None if latest == BEFORE_ALL else latest,
            "files": manifest(part.files, part.rows, part.split.made),
            "refused": lost,
            "twice": 0,
            "ambiguous": ambiguous,
            "nonexistent": nonexistent,
            "forgotten": 0,
        }
        for part, read, rows, lost, latest, ambiguous, nonexistent in zip(bundle.parts, *columns, strict=True)
    ]
