"""One task of accumulate: read splits with DuckDB, lift rows to states, write Parquet."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import MuntinError, SourceError
from muntin.files.readable import readable_footer
from muntin.jobs.accumulate.accumulate_bundle import accumulate_bundle
from muntin.jobs.accumulate.bundles import MOST_ROWS, SMALL, Bundle, Seen, bundles
from muntin.jobs.accumulate.gathered_files import gathered
from muntin.jobs.accumulate.read_split import read_split
from muntin.jobs.accumulate.shares import Written, manifest
from muntin.jobs.accumulate.windows_together import seen_windows
from muntin.jobs.schema_check.same_versions import check_worker, versions_here
from muntin.sources.listing import source_file
from muntin.sources.reading.dimensions.answers import ANSWERS
from muntin.sources.reading.page_checksums import check_pages
from muntin.sources.sessions.duckdb_session import kept_session, sessions_of_a_task
from muntin.sources.sessions.fetched_files import fetched_once
from muntin.sources.sessions.object_files import let_read
from muntin.sources.sessions.time_limit import in_time
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE
from muntin.store.retries import again_after
from muntin.store.store import File
from muntin.tasks.memory import in_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import duckdb

    from muntin.jobs.accumulate.shares import Share, Split
    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile
    from muntin.sources.source import Source

Result = TypeVar("Result")
_TRIES, _FIRST_S = 4, 0.5


@sessions_of_a_task()
def accumulate_share(share: Share) -> dict[str, Any]:
    """States and refused rows of every split, written: `Written` as a dict, and `versions`, package -> its
    version in the task.

    Versions that would make other states than the versions of the driver are refused.
    """
    check_worker(share.versions, versions_here())
    session = kept_session(share.bound.source.timezone)
    let_read(session, share.bound.source, chain.from_iterable(split.paths for split in share.splits))
    inspected = (
        seen(share.bound, share.splits)
        if len(share.splits) > 1 and may_bundle(share.bound)
        else [None] * len(share.splits)
    )
    written_bundles = list[Written]()
    for stretch in bundles(inspected):
        together = _together(
            session, share, [part for part in inspected[stretch.start : stretch.stop] if part]
        )
        written_bundles += (
            [together]
            if together
            else [_alone(session, share, split) for split in share.splits[stretch.start : stretch.stop]]
        )
        share = _knowing(share, written_bundles[-1])
    session.unregister(ANSWERS)
    return {
        "splits": _with_new_columns([dict(split) for each in written_bundles for split in each.splits]),
        "states": {
            frames.table: gathered(
                share, frames.table, [file for each in written_bundles for file in each.states[frames.table]]
            )
            for frames in share.bound.frame_sets
        },
        "refused": gathered(share, QUARANTINE, [file for each in written_bundles for file in each.refused]),
        "ids": gathered(share, IDS, [file for each in written_bundles for file in each.ids]),
        "met": gathered(share, LOOKED_UP, [file for each in written_bundles for file in each.met]),
        "versions": dict(versions_here()),
    }


def _knowing(share: Share, written: Written) -> Share:
    """The share, whose next splits are compared with what was read, too."""
    read = [File(file["path"], file["size"], file["rows"]) for file in written.ids if file["rows"]]
    return replace(share, earlier=share.earlier.knowing(read)) if share.earlier and read else share


def _with_new_columns(splits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The splits; a split without `columns` gets the columns of the split before."""
    columns_before = None
    for split in splits:
        columns = split.get("columns") and split["columns"][1]
        split["columns"] = None if columns == columns_before else split.get("columns")
        columns_before = columns or columns_before
    return splits


def _together(session: duckdb.DuckDBPyConnection, share: Share, parts: Sequence[Seen]) -> Written | None:
    """The result of splits that may be read together; None if they must be read separately after all."""
    if len(parts) < 2:  # noqa: PLR2004 - alone
        return None
    bundle = Bundle(parts)
    try:
        files = [file for part in parts for file in part.files]
        with in_time(session, bundle.paths), fetched_once(files):
            check_pages(bundle.paths, share.bound.may_use)
            written_bundle = accumulate_bundle(session, share, bundle)
        same = as_they_are(share.bound.source, bundle.paths) == files
    except Exception:  # noqa: BLE001 - whatever is wrong, the split that it is wrong with says it when it is read alone
        return None
    return written_bundle if same else None


def _alone(session: duckdb.DuckDBPyConnection, share: Share, split: Split) -> Written:
    """The result of files that did not change meanwhile, so that all frame sets are of the same content."""
    with in_time(session, split.paths):
        split_facts, files = steady(
            share.bound.source, split.paths, lambda: in_memory(partial(read_split, session, share), split)
        )
    counts = {
        name: split_facts[name]
        for name in (
            "batch",
            "split",
            "read",
            "taken",
            "newest",
            "twice",
            "ambiguous",
            "nonexistent",
            "forgotten",
        )
    }
    schema_facts = {name: split_facts.get(name) for name in ("columns", "lacks", "waits")}
    entries = {
        **counts,
        **schema_facts,
        "files": manifest(files, split_facts["rows"], split.made),
        "refused": split_facts["refused_rows"],
    }
    states, lost = (
        {table: [file] for table, file in split_facts["states"].items()},
        [split_facts["refused"]] if split_facts["refused"] else [],
    )
    return Written(
        [entries],
        states,
        lost,
        [split_facts["ids"]] if split_facts["ids"] else [],
        [split_facts["met"]] if split_facts.get("met") else [],
    )


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
        return seen_windows(bound, splits)
    last: pq.ParquetSchema | None = None
    number, out = 0, list[Seen | None]()
    for split in splits:
        try:
            files = [source_file(bound.source, path) for path in split.paths]
            footers = (
                [pq.read_metadata(readable_footer(path)) for path in split.paths]
                if _is_small(split, [file.size for file in files])
                else []
            )
        except (OSError, pa.ArrowException):
            footers = []
        if footers and (last is None or not footers[0].schema.equals(last)):
            last, number = footers[0].schema, number + 1
        same = bool(footers) and all(footer.schema.equals(last) for footer in footers)
        rows = [footer.num_rows for footer in footers]
        out.append(Seen(split, files, rows, number) if same and sum(rows) <= MOST_ROWS else None)
    return out


def _is_small(split: Split, sizes: Sequence[int]) -> bool:
    return split.only and split.watermark_us is None and sum(sizes) <= SMALL


class _WrittenMeanwhileError(Exception):
    """The files with these paths changed while they were read."""


def steady(
    source: Source, paths: Sequence[str], read: Callable[[], Result]
) -> tuple[Result, list[SourceFile]]:
    """The result of a reading of some files, and the facts of the files during the reading; SourceError where
    files keep changing.

    `read` is called again if a file changed while it did so, whatever came of it, for a writer may be at
    work.
    """
    return again_after(_WrittenMeanwhileError, _TRIES, _keeps_changing, first_s=_FIRST_S)(
        _attempted, source, paths, read
    )


def _attempted(
    source: Source, paths: Sequence[str], read: Callable[[], Result]
) -> tuple[Result, list[SourceFile]]:
    before = as_they_are(source, paths)
    try:
        with fetched_once(before):
            result = read()
    except MuntinError:
        _check_same(source, paths, before)
        raise
    _check_same(source, paths, before)
    return result, before


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
