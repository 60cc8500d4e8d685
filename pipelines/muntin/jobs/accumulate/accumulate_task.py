"""One task of accumulate: read splits with DuckDB, lift rows to states, write Parquet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from muntin.errors import MuntinError, SourceError
from muntin.files.readable import readable_footer
from muntin.files.some_rows import in_part
from muntin.jobs.accumulate.bundles import MOST_ROWS, SMALL, Bundle, Seen, bundles, gathered
from muntin.jobs.accumulate.read_split import read_split
from muntin.jobs.accumulate.shares import Share, Split, WrittenSplits, manifest
from muntin.jobs.schema_check.same_versions import check_worker, versions_here
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile, source_file, with_contents
from muntin.sources.reading.bad_files import check_pages
from muntin.sources.sessions.duckdb_session import kept_session, sessions_of_a_task
from muntin.sources.sessions.fetched_files import fetched_once
from muntin.sources.sessions.listed_files import let_read
from muntin.sources.sessions.time_limit import in_time
from muntin.sources.source import Source
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE
from muntin.store.store import File, again_after
from muntin.tasks.runner import in_memory

Result = TypeVar("Result")
_TRIES, _FIRST_S = 4, 0.5


@sessions_of_a_task()
def accumulate_share(share: Share) -> dict[str, Any]:
    """States and refused rows of every split, written: `WrittenSplits` as a dict, and `versions`, package ->
    its version in the task.

    Versions that would make other states than the versions of the driver are refused.
    """
    check_worker(share.versions, versions_here())
    bound = share.bound
    session = kept_session(bound.source.timezone)
    let_read(session, bound.source, chain.from_iterable(split.paths for split in share.splits))
    may_be_bundled = len(share.splits) > 1 and may_bundle(bound)
    inspected = seen(bound, share.splits) if may_be_bundled else [None] * len(share.splits)
    written_bundles = list[WrittenSplits]()
    for stretch in bundles(inspected):
        near = inspected[stretch.start : stretch.stop]
        together = _together(session, share, [part for part in near if part])
        splits = () if together else share.splits[stretch.start : stretch.stop]
        written_bundles += [together] if together else [_alone(session, share, split) for split in splits]
        ids = [File(**file) for file in written_bundles[-1].files.get(IDS, ()) if file["rows"]]
        if share.earlier and ids:  # the next splits are compared with these, too
            share = replace(share, earlier=share.earlier.knowing(ids))
    if bound.dimensions:
        from muntin.sources.reading.answers import ANSWERS

        session.unregister(ANSWERS)
    return {
        "splits": _with_new_columns([split for each in written_bundles for split in each.splits]),
        "files": {
            table: gathered(
                share, table, [file for each in written_bundles for file in each.files.get(table, ())]
            )
            for table in (*(frames.table for frames in bound.frame_sets), QUARANTINE, IDS, LOOKED_UP)
        },
        "versions": dict(versions_here()),
    }


def _with_new_columns(splits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The splits; a split without `columns` gets the columns of the split before."""
    columns_before = None
    for split in splits:
        columns = split.get("columns") and split["columns"][1]
        split["columns"] = None if columns == columns_before else split.get("columns")
        columns_before = columns or columns_before
    return splits


def _together(session: DuckDBPyConnection, share: Share, parts: Sequence[Seen]) -> WrittenSplits | None:
    """The result of splits that may be read together; None if they must be read separately after all."""
    if len(parts) < 2:  # noqa: PLR2004 - alone
        return None
    files = [file for part in parts for file in part.files]
    try:
        bundle = Bundle([part._replace(files=with_contents(part.files)) for part in parts])
        with in_time(session, bundle.paths), fetched_once(files):
            from muntin.jobs.accumulate.accumulate_bundle import accumulate_bundle

            check_pages(bundle.paths, share.bound.may_use)
            written_bundle = accumulate_bundle(session, share, bundle)
        same = as_they_are(share.bound.source, bundle.paths) == files
    except Exception:  # noqa: BLE001 - whatever is wrong, the split that it is wrong with says it when it is read alone
        return None
    return written_bundle if same else None


def _alone(session: DuckDBPyConnection, share: Share, split: Split) -> WrittenSplits:
    """The result of files that did not change meanwhile, so that all frame sets are of the same content."""
    with in_time(session, split.paths):
        (entry, rows, written), files = steady(
            share.bound.source,
            split.paths,
            lambda: in_memory(partial(read_split, session, share), split),
            whole=split.part is None,
        )
    entry["files"] = manifest(files, rows, split.made)
    return WrittenSplits([entry], {table: [file] for table, file in written.items() if file})


def may_bundle(bound: Bound) -> bool:
    """Whether splits of a pipeline may be read together: of Parquet files with events, or of windows of an
    upstream.
    """
    return bound.source.bundles


def seen(bound: Bound, splits: Sequence[Split]) -> list[Seen | None]:
    """Each split with the present facts of its files; None for a split to be read alone.

    A file that is gone or damaged is to be read alone, which says what is wrong.
    """
    if bound.source.batch_column:
        from muntin.jobs.accumulate.windows_together import seen_windows

        return seen_windows(bound, splits)
    last: pq.ParquetSchema | None = None
    number, out = 0, list[Seen | None]()
    for split in splits:
        try:
            files = [source_file(bound.source, path) for path in split.paths]
            small = split.only and split.watermark_us is None and sum(file.size for file in files) <= SMALL
            small = small and not in_part(split.paths)  # footers count deleted rows, too
            footers = [pq.read_metadata(readable_footer(path)) for path in split.paths] if small else []
        except (OSError, pa.ArrowException):
            footers = []
        if footers and (last is None or not footers[0].schema.equals(last)):
            last, number = footers[0].schema, number + 1
        same = bool(footers) and all(footer.schema.equals(last) for footer in footers)
        rows = [footer.num_rows for footer in footers]
        out.append(Seen(split, files, rows, number) if same and sum(rows) <= MOST_ROWS else None)
    return out


class _WrittenMeanwhileError(Exception):
    """The files with these paths changed while they were read."""


def steady(
    source: Source, paths: Sequence[str], read: Callable[[], Result], *, whole: bool = False
) -> tuple[Result, list[SourceFile]]:
    """The result of a reading of some files, and the facts of the files during the reading; SourceError where
    files keep changing.

    `read` is called again if a file changed while it did so, whatever came of it, for a writer may be at
    work. `whole`: it reads all of the files, so that their contents are named, too.
    """
    return again_after(_WrittenMeanwhileError, _TRIES, _keeps_changing, first_s=_FIRST_S)(
        _attempted, source, paths, read, whole=whole
    )


def _attempted(
    source: Source, paths: Sequence[str], read: Callable[[], Result], *, whole: bool
) -> tuple[Result, list[SourceFile]]:
    before = as_they_are(source, paths)
    try:
        with fetched_once(before):
            result = read()
    except MuntinError:
        _check_same(source, paths, before)
        raise
    contents = with_contents(before) if whole else before
    _check_same(source, paths, before)
    return result, contents


def _check_same(source: Source, paths: Sequence[str], before: Sequence[SourceFile]) -> None:
    if changed := [
        now.path for was, now in zip(before, as_they_are(source, paths), strict=True) if was != now
    ]:
        raise _WrittenMeanwhileError(", ".join(changed))


def _keeps_changing(last: BaseException | None) -> SourceError:
    return SourceError(
        f"{last}: written while it was read, {_TRIES} times; run again when the writer is done, "
        f"and let it write under a name that the source does not take and rename the file when it is whole"
    )


def as_they_are(source: Source, paths: Sequence[str]) -> list[SourceFile]:
    """The files as they are now; SourceError if a file is gone."""
    try:
        return [source_file(source, path) for path in paths]
    except FileNotFoundError as gone:
        raise SourceError(f"{gone.filename}: gone since the batch's files were listed; run again") from gone
