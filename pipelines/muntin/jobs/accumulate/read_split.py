"""Read a split; if a row, a cell or a file of it cannot be read, read the rest, and say what was left out and
why.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb

from muntin.aggregates.aggregate import runs_code
from muntin.errors import DefinitionError, MuntinError, SourceError, StateError
from muntin.files.paths import path_of
from muntin.jobs.accumulate.accumulate_split import accumulate_rows, write_refused
from muntin.jobs.accumulate.bundle_states import NOTHING
from muntin.jobs.accumulate.forgotten_rows import refused_left
from muntin.jobs.accumulate.shares import SplitResult, counted_split
from muntin.jobs.accumulate.split_rows import carefully, plainly
from muntin.jobs.quarantine.refused_rows_kept import KEPT
from muntin.jobs.records.reports import Counts
from muntin.sources.reading.bad_files import check_whole
from muntin.sources.reading.column_hints import lacks_types
from muntin.sources.reading.row_groups import rows_of
from muntin.sources.sessions.duckdb_session import careful_session, explained
from muntin.store.contents import problem_of
from muntin.store.disk import refused
from muntin.store.parquet import write_named
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE, StatesPath
from muntin.timeline.batches import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.jobs.accumulate.shares import Share, Split
    from muntin.jobs.accumulate.split_rows import SplitRows
    from muntin.jobs.state.bound import Bound
    from muntin.sources.reading.mended import Mended


def read_split(session: duckdb.DuckDBPyConnection, share: Share, split: Split) -> SplitResult:
    """Read a split; if that fails, read it without the rows that cannot be read or computed."""
    _check_pickles(share.bound, split)
    if part := split.part:
        split = replace(split, rows=rows_of(split.paths[0], part))
        if split.rows == range(0):
            return _of_no_rows(share, split, first=part.number == 0)
    try:
        check_whole(share.bound.source, split.paths, share.bound.may_use, split.rows)
        return accumulate_rows(session, share, split, plainly(session, share.bound, split))
    except Exception as wrong:
        from muntin.jobs.accumulate.lone_rows import may_be_of_a_row

        if not may_be_of_a_row(wrong):
            raise
        session.execute(f"DROP TABLE IF EXISTS {KEPT}")
        error = _told(session, share.bound, split.paths, wrong)
        result = None
        try:
            result = _without_bad_rows(share, split)
        except FileNotFoundError:  # `steady` tells that the file is gone
            pass
        except OSError as full:
            raise refused("a copy of the files without their bad rows", full) from full
        except MuntinError as worse:
            error = worse
        if result is not None:
            return result
        if isinstance(error, MuntinError):
            return _contradicting(session, share, split, error)
        raise


def _contradicting(
    session: duckdb.DuckDBPyConnection, share: Share, split: Split, error: MuntinError
) -> SplitResult:
    """A split whose batch waits for a type that contradicts earlier batches; else the error is raised."""
    from muntin.jobs.schema_check.contradictions import contradictions, waiting
    from muntin.jobs.schema_check.contradictions import reported as contradicted

    conflicts = contradictions(session, share.bound, share.columns, split.paths)
    if conflicts and share.bound.source.on_schema == "quarantine":
        result = _of_bad_rows(share, split, waiting(share.bound, split.paths, conflicts))
        return result._replace(entry=result.entry | {"waits": True})
    from muntin.jobs.schema_check.fitting_files import with_odd_cells

    raise contradicted(with_odd_cells(session, share.bound, split.paths, error), conflicts) from error


def _told(
    session: duckdb.DuckDBPyConnection, bound: Bound, paths: Sequence[str], wrong: Exception
) -> Exception:
    """An error of DuckDB's in the words of the definition; another error itself."""
    lack = lacks_types(session, bound.source, paths) if isinstance(wrong, duckdb.BinderException) else None
    return lack or (explained(wrong, paths) if isinstance(wrong, duckdb.Error) else wrong)


def _check_pickles(bound: Bound, split: Split) -> None:
    """Check before reading that files of an upstream with pickles have the content of their names."""
    if not bound.source.upstream or not any(map(runs_code, bound.fields)):
        return
    for path in split.paths:
        if problem := problem_of(path_of(path)):
            raise StateError(
                f"{path} {problem}; nothing was read of it. muntin doctor --mend FILE derives the windows of"
                " the upstream again"
            )


def _without_bad_rows(share: Share, split: Split) -> SplitResult | None:
    """The result of the rows that can be read and computed; None if no more rows can be left out.

    What is wrong with the rest is raised.
    """
    from muntin.jobs.schema_check.fitting_files import fitting

    rows = None
    with (
        careful_session(share.bound.source, split.paths) as session,
        fitting(session, share.bound, split.paths) as (bound, files),
    ):
        if files.has_no_row_left:
            return _of_bad_rows(share, split, files)
        try:
            rows = carefully(session, bound, split, files)
            return _of_good_rows(session, replace(share, bound=bound), split, files, rows)
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except (duckdb.Error, SourceError, DefinitionError) as wrong:
            if not (files.differ or (rows and rows.bad)):
                return None
            error = _told(session, bound, files.paths, wrong)
            raise type(error)(files.named(str(error))) from wrong


def _of_good_rows(
    session: duckdb.DuckDBPyConnection, share: Share, split: Split, files: Mended, rows: SplitRows
) -> SplitResult | None:
    """The result without bad rows, if need be without rows that make no state; None: no row is left out."""
    from muntin.jobs.accumulate.lone_rows import lone_faults, may_be_of_a_row

    failed: Exception | None = None
    if rows.bad or files.differ:
        try:
            return accumulate_rows(session, share, split, rows)
        except Exception as wrong:
            if not may_be_of_a_row(wrong):
                raise
            failed = wrong
    if odd := lone_faults(session, share, split, rows):
        return accumulate_rows(session, share, split, carefully(session, share.bound, split, files, odd))
    if failed:
        raise failed
    return None


def _of_no_rows(share: Share, split: Split, *, first: bool) -> SplitResult:
    """The result of a part without rows: the first part of a file says that its batch was read."""
    from muntin.sources.reading.mended import Mended

    if first:
        return _of_bad_rows(share, split, Mended(share.bound.source, split.paths))
    return SplitResult(counted_split(split, Counts(), newest=split.watermark_us), [0], {})


def _of_bad_rows(share: Share, split: Split, files: Mended) -> SplitResult:
    """The result of a split of which no row can be read."""
    from muntin.jobs.accumulate.split_deduplication import of_nothing
    from muntin.jobs.inputs.dimensions.lookup_log import write_met
    from muntin.jobs.quarantine.refused_places import bad_rows

    bound = share.bound
    compared = of_nothing(share, split) if bound.source.dedupe_within_us is not None else None
    decided = compared.decided if compared else UNDECIDED
    name = StatesPath(split.batch_us, split.number, split.watermark_us, decided=decided).named
    count = len(files.bad)
    lost = refused_left(bound, bad_rows(files))
    counts = Counts(count, 0, len(lost), forgotten=count - len(lost))
    return SplitResult(
        counted_split(split, counts, newest=split.watermark_us),
        files.rows([0] * len(files.paths)),
        {
            **{each.table: write_named(NOTHING, bound.table(each.table), name) for each in bound.frame_sets},
            QUARANTINE: write_refused(share, split, lost) if len(lost) else None,
            IDS: compared.ids if compared else None,
            LOOKED_UP: write_met(bound, None, split.batch_us, split.number),
        },
    )
