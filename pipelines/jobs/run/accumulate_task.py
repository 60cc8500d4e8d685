"""What one Spark task of accumulate does: read splits with DuckDB, lift rows to states, write Parquet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.aggregates.aggregate import sealed
from pipelines.engine.merged_states import merged
from pipelines.errors import MuntinError
from pipelines.jobs.run.columns_of_files import check_files
from pipelines.jobs.run.steady_reading import steady
from pipelines.jobs.run.times_of_files import check_times
from pipelines.sources.duckdb_session import described, explained, kept_session
from pipelines.sources.json_columns import read_as
from pipelines.sources.lift import states, tally
from pipelines.sources.scan import quoted, refused, scan, staged
from pipelines.sources.sql_types import stored, targets_of
from pipelines.sources.upstream_windows import WindowSource
from pipelines.states.checkpoint import arranged, frame_range, numbered
from pipelines.states.columns import FILE_PATH, FRAME, INSTANT, ROW_IN_BATCH
from pipelines.store.parquet import write_named
from pipelines.store.paths import StatesPath

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.definition.frame_sets import FrameSet
    from pipelines.jobs.bound import Bound
    from pipelines.sources import Source


@dataclass(frozen=True, slots=True)
class Split:
    """Some neighbouring files of one batch: `number` of its splits, paths in order of arrival.

    `mark_us`: how far time is known after the batch, where its source says so itself.
    """

    batch_us: int
    end_us: int
    number: int
    paths: tuple[str, ...]
    mark_us: int | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """The splits that one task works through.

    `targets`: frame set's table -> column -> SQL type that its states have in every batch.
    """

    bound: Bound
    splits: Sequence[Split]
    targets: Mapping[str, Mapping[str, str]]


def accumulate_share(share: Share) -> list[dict[str, Any]]:
    """States and refused rows of every split, written; what was written and counted, a dict a split."""
    session = kept_session(share.bound.source.timezone)
    return [_steady(session, share, split) for split in share.splits]


def _steady(session: duckdb.DuckDBPyConnection, share: Share, split: Split) -> dict[str, Any]:
    """What was read of files that did not change meanwhile, so that all frame sets are of one content."""
    done, files = steady(share.bound.source, split.paths, lambda: _guarded(session, share, split))
    rows = done.pop("rows")
    return {**done, "files": [(f.path, f.size, count, f.written_ns, f.checksum) for f, count in zip(files, rows, strict=True)]}


def _guarded(session: duckdb.DuckDBPyConnection, share: Share, split: Split) -> dict[str, Any]:
    try:
        return _accumulate(session, share, split)
    except MuntinError:
        raise
    except duckdb.Error as wrong:
        raise explained(wrong, split.paths) from wrong


def _accumulate(session: duckdb.DuckDBPyConnection, share: Share, split: Split) -> dict[str, Any]:
    pipeline, source = share.bound.pipeline, share.bound.source
    sets, fields = share.bound.frame_sets, share.bound.fields
    ordinal = any(each.uses_order or each.is_state for each in fields) or any(frames.by_arrival for frames in sets)
    told = read_as(session, source, split.paths)
    columns = described(session, f"FROM {scan(source, split.paths, told)}")
    check_times(session, source, columns, split.paths)
    rows = f"({staged(source, scan(source, split.paths, told, named=_is_kept(source)), columns, ordinal=ordinal)})"
    if _is_kept(source):
        order = f" ORDER BY {', '.join(map(quoted, source.order))}" if isinstance(source, WindowSource) else ""
        session.execute(f"CREATE OR REPLACE TEMP TABLE muntin_rows AS FROM {rows}{order}")
        rows = "muntin_rows"
    latest = split.end_us + pipeline.max_ahead_us
    read, accepted, newest = session.execute(tally(rows, latest)).fetchall()[0]
    newest = newest if split.mark_us is None else split.mark_us
    done: dict[str, Any] = {"batch": split.batch_us, "split": split.number, "read": read, "taken": 0, "newest": newest, "states": {}}
    done["rows"] = _rows_by_file(session, source, split.paths, read)
    check_files(session, share.bound, columns, [path for path, count in zip(split.paths, done["rows"], strict=True) if count])
    for frames in sets:
        done["states"][frames.table] = written = _write_states(session, share, split, frames, rows, latest, newest, columns, done["rows"])
        done["taken"] = written.pop("taken")
    done["refused"] = None
    if read > accepted:
        query = refused(source, split.paths, columns, told, latest, pipeline.max_ahead_us)
        done["refused"] = _write_refused(session, share, split, query)
    done["refused_rows"] = read - accepted
    return done


def _is_kept(source: Source) -> bool:
    """Whether a split's rows are read once into a table: Parquet is read again as fast."""
    return source.format != "parquet" or isinstance(source, WindowSource)


def _rows_by_file(session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str], read: int) -> list[int]:
    if len(paths) == 1:
        return [read]
    if not _is_kept(source):
        return [pq.read_metadata(path).num_rows for path in paths]
    counted = dict(session.execute(f"SELECT {FILE_PATH}, count(*) FROM muntin_rows GROUP BY ALL").fetchall())
    return [counted.get(path, 0) for path in paths]


def _write_states(
    session: duckdb.DuckDBPyConnection,
    share: Share,
    split: Split,
    frames: FrameSet,
    rows: str,
    latest: int,
    newest: int | None,
    columns: Mapping[str, str],
    rows_by_file: Sequence[int],
) -> dict[str, Any]:
    query = states(share.bound.pipeline, share.bound.fields, frames, rows, latest, columns)
    kinds = targets_of(described(session, query), share.targets[frames.table], split.paths)
    table = sealed(stored(session, query, kinds), share.bound.fields)
    if not frames.by_arrival and any(each.is_state for each in share.bound.fields):
        table = merged(table, share.bound.pipeline.keys, share.bound.fields)
    if frames.by_arrival:
        table = numbered(table, rows_by_file, split.number)
    table, taken = arranged(table, share.bound.pipeline.keys, split.batch_us, frames.width_us), int(table["rows"].to_numpy().sum())
    name = StatesPath(split.batch_us, split.number, newest, *frame_range(table)).named
    dictionary = [*share.bound.pipeline.keys, "batch", "bucket", *([] if frames.by_arrival else [FRAME])]
    differences = [FRAME, ROW_IN_BATCH] if frames.by_arrival else []
    written = write_named(table, f"{share.bound.folder}/{frames.table}", name, dictionary=dictionary, differences=differences)
    return {**written, "taken": taken}


def _write_refused(session: duckdb.DuckDBPyConnection, share: Share, split: Split, query: str) -> dict[str, Any]:
    table = session.sql(query).to_arrow_table()
    batch = pa.repeat(pa.scalar(split.batch_us, pa.int64()), len(table)).view(INSTANT)
    table = table.add_column(0, "batch", batch)
    return write_named(table, f"{share.bound.folder}/quarantine", StatesPath(split.batch_us, split.number, None).named)


def empty_states(root: str, table: str, batch_us: int, mark_us: int | None = None) -> dict[str, Any]:
    """The checkpoint of a batch without files: that it was seen."""
    nothing = pa.table({"batch": pa.array([], INSTANT), FRAME: pa.array([], INSTANT), "rows": pa.array([], pa.int64())})
    return write_named(nothing, f"{root}/{table}", StatesPath(batch_us, 0, mark_us).named)
