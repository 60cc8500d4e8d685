"""What one Spark task of accumulate does: read splits with DuckDB, lift rows to states, write Parquet."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from pipelines.aggregates.aggregate import sealed
from pipelines.engine.merged_states import merged
from pipelines.errors import DefinitionError, SourceError
from pipelines.jobs.run.accumulate_bundle import accumulate_bundle
from pipelines.jobs.run.bundle_states import encoding
from pipelines.jobs.run.bundles import Bundle, bundles
from pipelines.jobs.run.columns_of_files import check_files
from pipelines.jobs.run.empty_batches import NOTHING
from pipelines.jobs.run.fitting_files import fitting
from pipelines.jobs.run.footers import may_bundle, seen
from pipelines.jobs.run.odd_cells import with_odd_cells
from pipelines.jobs.run.refused_places import KEPT, bad_rows
from pipelines.jobs.run.shares import Written, manifest
from pipelines.jobs.run.split_rows import carefully, plainly
from pipelines.jobs.run.steady_reading import as_they_are, steady
from pipelines.sources.bad_files import check_not_empty
from pipelines.sources.duckdb_session import careful_session, described, explained, kept_session
from pipelines.sources.lift import states, tally
from pipelines.sources.object_files import let_read
from pipelines.sources.sql_types import stored, targets_of
from pipelines.states.checkpoint import arranged, frame_range, numbered
from pipelines.states.columns import INSTANT
from pipelines.store.disk import refused
from pipelines.store.parquet import write_named
from pipelines.store.paths import StatesPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.definition.frame_sets import FrameSet
    from pipelines.jobs.run.bundles import Seen
    from pipelines.jobs.run.shares import Share, Split
    from pipelines.jobs.run.split_rows import SplitRows
    from pipelines.sources.mended import Mended


def accumulate_share(share: Share) -> dict[str, Any]:
    """States and refused rows of every split, written.

    Returns:
        `Written` as a dict.
    """
    session = kept_session(share.bound.source.timezone)
    let_read(session, chain.from_iterable(split.paths for split in share.splits))
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
    """Read a split; if that fails, read it without the rows that cannot be read or computed."""
    try:
        check_not_empty(share.bound.source, split.paths)
        return _accumulate(session, share, split, plainly(session, share.bound, split))
    except (duckdb.Error, SourceError, DefinitionError) as wrong:
        session.execute(f"DROP TABLE IF EXISTS {KEPT}")
        told = explained(wrong, split.paths) if isinstance(wrong, duckdb.Error) else wrong
        done = None
        try:
            done = None if isinstance(wrong, duckdb.OutOfMemoryException) else _without_bad_rows(share, split)
        except FileNotFoundError:  # `steady` tells that the file is gone
            pass
        except OSError as full:
            raise refused("a copy of the files without their bad rows", full) from full
        if done is None:
            raise with_odd_cells(session, share.bound, split.paths, told) from wrong
        return done


def _without_bad_rows(share: Share, split: Split) -> dict[str, Any] | None:
    """What came of the rows that can be read and computed; None if there are no others to be left out.

    Raises:
        MuntinError: what is wrong with the rest.
    """
    rows = None
    with (
        careful_session(share.bound.source.timezone, split.paths) as session,
        fitting(session, share.bound, split.paths) as (bound, files),
    ):
        if files.has_no_row_left:
            return _of_bad_rows(share, split, files)
        try:
            rows = carefully(session, bound, split, files)
            return _accumulate(session, replace(share, bound=bound), split, rows) if rows.bad or files.differ else None
        except (duckdb.Error, SourceError, DefinitionError) as wrong:
            if not (files.differ or (rows and rows.bad)):
                return None
            told = explained(wrong, split.paths) if isinstance(wrong, duckdb.Error) else wrong
            raise type(told)(files.named(str(told))) from wrong


def _of_bad_rows(share: Share, split: Split, files: Mended) -> dict[str, Any]:
    """What came of a split of which no row can be read."""
    name, count = StatesPath(split.batch_us, split.number, split.mark_us).named, len(files.bad)
    written = {each.table: write_named(NOTHING, f"{share.bound.folder}/{each.table}", name) for each in share.bound.frame_sets}
    done = {"batch": split.batch_us, "split": split.number, "read": count, "taken": 0, "newest": split.mark_us, "states": written}
    return done | {
        "rows": files.rows([0] * len(files.paths)),
        "refused_rows": count,
        "refused": _write_refused(share, split, bad_rows(files)) if count else None,
    }


def _accumulate(session: duckdb.DuckDBPyConnection, share: Share, split: Split, found: SplitRows) -> dict[str, Any]:
    latest = split.end_us + share.bound.pipeline.max_ahead_us
    read, accepted, newest = session.execute(tally(found.rows, latest)).fetchall()[0]
    newest = newest if split.mark_us is None else split.mark_us
    done: dict[str, Any] = {"batch": split.batch_us, "split": split.number, "read": read + found.bad, "taken": 0, "newest": newest}
    by_file = found.by_file(read)
    check_files(session, share.bound, found.columns, [path for path, count in zip(found.paths, by_file, strict=True) if count])
    done["states"] = states = dict[str, Any]()
    for frames in share.bound.frame_sets:
        states[frames.table] = written = _write_states(session, share, split, frames, found, latest, newest, by_file)
        done["taken"] = written.pop("taken")
    done["rows"] = found.in_files(by_file)
    done["refused_rows"] = read - accepted + found.bad
    done["refused"] = _write_refused(share, split, found.refused()) if done["refused_rows"] else None
    return done


def _write_states(
    session: duckdb.DuckDBPyConnection,
    share: Share,
    split: Split,
    frames: FrameSet,
    found: SplitRows,
    latest: int,
    newest: int | None,
    by_file: Sequence[int],
) -> dict[str, Any]:
    query = states(share.bound.pipeline, share.bound.fields, frames, found.rows, latest, found.columns)
    kinds = targets_of(described(session, query), share.targets[frames.table], split.paths)
    table = sealed(stored(session, query, kinds), share.bound.fields)
    if not frames.by_arrival and any(each.is_state for each in share.bound.fields):
        table = merged(table, share.bound.pipeline.keys, share.bound.fields)
    if frames.by_arrival:
        table = numbered(table, by_file, split.number)
    table, taken = arranged(table, share.bound.pipeline.keys, split.batch_us, frames.width_us), int(table["rows"].to_numpy().sum())
    name = StatesPath(split.batch_us, split.number, newest, *frame_range(table)).named
    how = encoding(frames, share.bound.pipeline.keys)
    written = write_named(table, f"{share.bound.folder}/{frames.table}", name, **how)
    return {**written, "taken": taken}


def _write_refused(share: Share, split: Split, table: pa.Table) -> dict[str, Any]:
    batch = pa.repeat(pa.scalar(split.batch_us, pa.int64()), len(table)).view(INSTANT)
    table = table.add_column(0, "batch", batch)
    return write_named(table, f"{share.bound.folder}/quarantine", StatesPath(split.batch_us, split.number, None).named)
