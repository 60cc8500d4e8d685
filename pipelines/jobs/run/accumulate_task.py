"""What one Spark task of accumulate does: read splits with DuckDB, lift rows to states, write Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.aggregates.aggregate import sealed
from pipelines.engine.merged_states import merged
from pipelines.errors import MuntinError
from pipelines.jobs.run.accumulate_bundle import accumulate_bundle
from pipelines.jobs.run.bundle_states import encoding
from pipelines.jobs.run.bundles import Bundle, bundles
from pipelines.jobs.run.columns_of_files import check_files
from pipelines.jobs.run.footers import may_bundle, seen
from pipelines.jobs.run.shares import Written, keeps_order, manifest
from pipelines.jobs.run.steady_reading import as_they_are, steady
from pipelines.jobs.run.times_of_files import check_times
from pipelines.sources.duckdb_session import described, explained, kept_session
from pipelines.sources.json_columns import read_as
from pipelines.sources.lift import states, tally
from pipelines.sources.refused_rows import refused
from pipelines.sources.scan import quoted, scan, staged
from pipelines.sources.sql_types import stored, targets_of
from pipelines.sources.upstream_windows import WindowSource
from pipelines.states.checkpoint import arranged, frame_range, numbered
from pipelines.states.columns import FILE_PATH, INSTANT
from pipelines.store.parquet import write_named
from pipelines.store.paths import StatesPath

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.definition.frame_sets import FrameSet
    from pipelines.jobs.run.bundles import Seen
    from pipelines.jobs.run.shares import Share, Split
    from pipelines.sources import Source


def accumulate_share(share: Share) -> dict[str, Any]:
    """States and refused rows of every split, written.

    Returns:
        `Written` as a dict.
    """
    session = kept_session(share.bound.source.timezone)
    looked = seen(share.bound, share.splits) if len(share.splits) > 1 and may_bundle(share.bound) else [None] * len(share.splits)
    done = list[Written]()
    for stretch in bundles(looked):
        together = _together(session, share, [part for part in looked[stretch.start : stretch.stop] if part])
        done += [together] if together else [_alone(session, share, split) for split in share.splits[stretch.start : stretch.stop]]
    return {
        "splits": [split for each in done for split in each.splits],
        "states": {frames.table: [file for each in done for file in each.states[frames.table]] for frames in share.bound.frame_sets},
        "refused": [file for each in done for file in each.refused],
    }


def _together(session: duckdb.DuckDBPyConnection, share: Share, parts: Sequence[Seen]) -> Written | None:
    """What came of splits that may be read together; None if they are to be read one by one after all."""
    if len(parts) < 2:  # noqa: PLR2004 - alone
        return None
    bundle = Bundle(parts)
    try:
        done = accumulate_bundle(session, share, bundle)
        same = as_they_are(share.bound.source, bundle.paths) == [file for part in parts for file in part.files]
    except Exception:  # noqa: BLE001 - whatever is wrong, the split that it is wrong with says it when it is read alone
        return None
    return done if same else None


def _alone(session: duckdb.DuckDBPyConnection, share: Share, split: Split) -> Written:
    """What was read of files that did not change meanwhile, so that all frame sets are of one content."""
    done, files = steady(share.bound.source, split.paths, lambda: _guarded(session, share, split))
    counts = {name: done[name] for name in ("batch", "split", "read", "taken", "newest")}
    entries = {**counts, "files": manifest(files, done["rows"], split.made), "refused": done["refused_rows"]}
    return Written([entries], {table: [file] for table, file in done["states"].items()}, [done["refused"]] if done["refused"] else [])


def _guarded(session: duckdb.DuckDBPyConnection, share: Share, split: Split) -> dict[str, Any]:
    try:
        return _accumulate(session, share, split)
    except MuntinError:
        raise
    except duckdb.Error as wrong:
        raise explained(wrong, split.paths) from wrong


def _accumulate(session: duckdb.DuckDBPyConnection, share: Share, split: Split) -> dict[str, Any]:
    pipeline, source = share.bound.pipeline, share.bound.source
    told = read_as(session, source, split.paths)
    columns = described(session, f"FROM {scan(source, split.paths, told)}")
    check_times(session, source, columns, split.paths)
    only, found = _of_batch(source, split), scan(source, split.paths, told, named=_is_kept(source))
    rows = f"({staged(source, f'(FROM {found} WHERE {only})' if only else found, columns, ordinal=keeps_order(share.bound))})"
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
    for frames in share.bound.frame_sets:
        done["states"][frames.table] = written = _write_states(session, share, split, frames, rows, latest, newest, columns, done["rows"])
        done["taken"] = written.pop("taken")
    done["refused"] = None
    if read > accepted:
        query = refused(source, split.paths, columns, latest, pipeline.max_ahead_us, read_as=told, only=only)
        done["refused"] = _write_refused(session, share, split, query)
    done["refused_rows"] = read - accepted
    return done


def _of_batch(source: Source, split: Split) -> str | None:
    """The condition on rows of files that other batches share, as those of an upstream's windows; None: all rows are the batch's."""
    return f"batch = make_timestamptz({split.batch_us})" if isinstance(source, WindowSource) else None


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
    how = encoding(frames, share.bound.pipeline.keys)
    written = write_named(table, f"{share.bound.folder}/{frames.table}", name, **how)
    return {**written, "taken": taken}


def _write_refused(session: duckdb.DuckDBPyConnection, share: Share, split: Split, query: str) -> dict[str, Any]:
    table = session.sql(query).to_arrow_table()
    batch = pa.repeat(pa.scalar(split.batch_us, pa.int64()), len(table)).view(INSTANT)
    table = table.add_column(0, "batch", batch)
    return write_named(table, f"{share.bound.folder}/quarantine", StatesPath(split.batch_us, split.number, None).named)
