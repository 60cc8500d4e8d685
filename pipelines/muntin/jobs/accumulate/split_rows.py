"""The rows of a split, for lifting: read as they are, or, where that fails, without rows that cannot be read
or computed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from muntin.files.readable import readable_footer
from muntin.files.some_rows import in_part
from muntin.jobs.accumulate.shares import keeps_order, taken
from muntin.jobs.quarantine.refused_rows_kept import BAD, KEPT, REFUSED
from muntin.jobs.schema_check.first_files import check_names, check_times
from muntin.sources.reading.column_types import check_numbers, column_types
from muntin.sources.reading.refused_rows import faulty, refused, refused_of_kept, whole_row
from muntin.sources.reading.row_times import staged
from muntin.sources.reading.scan import cast_behind, quoted, scan, with_casts
from muntin.sources.sessions.fetched_files import footer_of
from muntin.sources.sessions.row_expressions import RowExpression
from muntin.states.columns import FAULT, SOURCE_ROWS, WRITTEN
from muntin.states.derived_columns import Extent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muntin.jobs.accumulate.shares import Split
    from muntin.jobs.quarantine.refused_places import Fault
    from muntin.jobs.state.bound import Bound
    from muntin.sources.reading.column_types import FileColumns
    from muntin.sources.reading.mended import Mended
    from muntin.sources.source import Columns, Source


MANY_ROWS = 2**17
"""So many or fewer are grouped by DuckDB in milliseconds, and their floats are added in the order of the rows
there, too; they are counted in the time that DuckDB takes to plan a query of footers.
"""
MOST_COLUMNS = 64
"""With more, to take a footer apart may take longer than to count the rows."""


class SplitRows(NamedTuple):
    """The rows of a split.

    Attributes:
        paths: of the files that are read: the files of the split, or copies of them.
        columns: name -> SQL type.
        rows: SQL for the rows, as `staged` gives them.
        bad: how many rows of the split cannot be read or computed.
        by_file: gives the number of rows of each of `paths`, from the number of `rows`.
        in_files: gives the number of rows of each file of the split, bad rows too, from what `by_file` gives.
        refused: gives the rows that are not accepted or not among them, with the columns `REFUSED`.
        counted: gives the facts of `rows` from footers; None where they do not.
        met: what the rows looked up, as `with_answers` gives it; None where they look nothing up.
    """

    paths: Sequence[str]
    columns: Columns
    rows: str
    bad: int
    by_file: Callable[[int], list[int]]
    in_files: Callable[[list[int]], list[int]]
    refused: Callable[[], pa.Table]
    counted: Callable[[], Counted | None] = lambda: None
    met: pa.Table | None = None


class Counted(NamedTuple):
    """The number of rows, the number of accepted rows, and the largest and the least event time of accepted
    rows, microseconds.

    `ambiguous`, `nonexistent`: the number of rows whose local time comes twice, or never was.
    `exact`: false where footers tell: then at most so many are accepted, and of no other times, as long as
    these tell the truth.
    """

    read: int
    accepted: int
    newest: int | None
    oldest: int | None
    ambiguous: int = 0
    nonexistent: int = 0
    exact: bool = True

    @property
    def extent(self) -> Extent | None:
        """Extent of the accepted rows, at most; None where there are none."""
        return (
            None
            if self.oldest is None or self.newest is None
            else Extent(self.accepted, self.oldest, self.newest)
        )

    def of(self, accepted: Extent) -> Counted:
        """The split's rows, of which the given rows were accepted."""
        return Counted(self.read, accepted.rows, accepted.newest, accepted.oldest)


def plainly(session: duckdb.DuckDBPyConnection, bound: Bound, split: Split) -> SplitRows:
    """All rows of a split, as fast as can be; duckdb.Error or SourceError if a row cannot be read."""
    source, times, paths, met = bound.source, taken(bound, split), split.paths, None
    # a row read again does not say alone whether it is accepted
    compared = source.ambiguous == "arrival" or bool(times.needs)
    ordered = bool(source.order) or bool(source.lookups and (source.arrival_order or source.section))
    in_table = compared or source.format != "parquet" or ordered or in_part(paths)
    read_as, columns = _columns(session, bound, paths)
    check_numbers(session, source, paths, read_as.fractions)
    only = _of_batch(source, split)
    scan_sql = scan(source, paths, read_as, named=in_table, rows=split.rows)
    read = f"(FROM {scan_sql} WHERE {only})" if only else scan_sql
    rows = _timed(source, read, split, columns, ordinal=keeps_order(bound) or compared)
    if in_table:
        session.execute(f"CREATE OR REPLACE TEMP TABLE {KEPT} AS FROM {rows}{_in_order(source)}")
        rows = KEPT
    if source.lookups:
        from muntin.sources.reading.answers import with_answers

        rows, met = with_answers(session, source, rows, times.in_time, split.batch_us)

    def lost() -> pa.Table:
        from muntin.jobs.quarantine.refused_places import with_lines

        query = (
            refused_of_kept(source, rows, columns, times)
            if compared
            else refused(source, paths, columns, times, read_as=read_as, only=only, rows=split.rows)
        )
        return with_lines(session, source, session.sql(query).to_arrow_table().select(REFUSED.names))

    def by_file(read: int) -> list[int]:
        if len(paths) == 1:
            return [read]
        if not in_table:
            return [pq.read_metadata(readable_footer(path)).num_rows for path in paths]
        from muntin.jobs.quarantine.refused_places import rows_by_file

        return rows_by_file(session, paths, KEPT)

    def counted_by_footers() -> Counted | None:
        if in_table or only or len(columns) > MOST_COLUMNS:
            return None
        # a footer with odd statistics, or damaged; counting says what is wrong, if anything is
        with suppress(duckdb.DataError, duckdb.ProgrammingError, pa.ArrowException, OSError):
            if not _many(split):
                return None
            from muntin.sources.reading.footers import told_extent

            extent = told_extent(session, source, paths, columns, times, split.rows)
            return extent and Counted(extent.rows, extent.rows, extent.newest, extent.oldest, exact=False)
        return None

    return SplitRows(paths, columns, rows, 0, by_file, list, lost, counted_by_footers, met)


def _many(split: Split) -> bool:
    """Whether a split of Parquet files has more than `MANY_ROWS`; of a short file that is not asked."""
    if split.size <= MANY_ROWS or split.rows is not None:
        return len(split.rows or ()) > MANY_ROWS
    return sum(pq.read_metadata(footer_of(path)).num_rows for path in split.paths) > MANY_ROWS


def carefully(
    session: duckdb.DuckDBPyConnection, bound: Bound, split: Split, files: Mended, odd: Sequence[Fault] = ()
) -> SplitRows:
    """The rows of a split that can be read and computed, from `files` instead of its own. `odd`: more faults,
    of rows of an earlier call.

    It raises if the files do not fit the definition, whatever rows are left out.
    """
    from muntin.jobs.quarantine.refused_places import Fault, first_fault, placed, row_faults, rows_by_file

    source, times, paths, met = bound.source, taken(bound, split), files.paths, None
    read_as, columns = _columns(session, bound, paths)
    changed = cast_behind(source, read_as)
    casts = [Fault(each.fault, name, RowExpression(each.sql).fails) for name, each in changed.items()]
    only = _of_batch(source, split)
    scan_sql = scan(source, paths, read_as, named=True, rows=split.rows, cast=False)
    # with the types of the definition, and with `FAULT` and `WRITTEN` where a cell is of another
    faults = f"SELECT *, {first_fault(casts)} AS {FAULT} FROM {scan_sql}{f' WHERE {only}' if only else ''}"
    written = f"CASE WHEN {FAULT} IS NOT NULL THEN {whole_row(columns)} END AS {WRITTEN}"
    read = with_casts(
        f"(SELECT *, {written} FROM ({faults}))", {name: f"TRY({each.sql})" for name, each in changed.items()}
    )
    rows = _timed(source, read, split, columns, ordinal=True)
    if source.lookups:  # read into a table first: TRY is computed once, and the order of rows is settled
        from muntin.sources.reading.answers import TIMED, with_answers

        session.execute(f"CREATE OR REPLACE TEMP TABLE {TIMED} AS FROM {rows}")
        rows, met = with_answers(session, source, TIMED, times.in_time, split.batch_us)
    all_faults = [*casts, *row_faults(session, bound, rows), *odd]
    # one table for good and bad rows would let DuckDB compute bad rows before it leaves them out
    later = first_fault([Fault("", None, "false")] * len(casts) + all_faults[len(casts) :])
    fault = f"coalesce({FAULT}, CASE WHEN {times.condition} THEN {later} END)"
    every = f"SELECT * REPLACE ({fault} AS {FAULT}) FROM {rows} AS {SOURCE_ROWS}"
    session.execute(f"CREATE OR REPLACE TEMP TABLE {KEPT} AS {every}{_in_order(source)}")
    session.execute(f"CREATE OR REPLACE TEMP TABLE {BAD} AS FROM {KEPT} WHERE {FAULT} IS NOT NULL")
    session.execute(f"DELETE FROM {KEPT} WHERE {FAULT} IS NOT NULL")
    left_out = session.execute(f"SELECT count(*) FROM {BAD}").fetchall()[0][0]

    def lost() -> pa.Table:
        refused_rows = session.sql(faulty(source, columns, good=KEPT, bad=BAD, times=times)).to_arrow_table()
        first = split.rows.start if split.rows else 0
        return placed(session, refused_rows, files, all_faults, first=first).select(REFUSED.names)

    counts = rows_by_file(session, paths, KEPT, BAD)
    bad = left_out + len(files.bad)
    return SplitRows(paths, columns, KEPT, bad, lambda _: counts, files.rows, lost, met=met)


def _columns(session: duckdb.DuckDBPyConnection, bound: Bound, paths: Sequence[str]) -> FileColumns:
    """How files are read, and their columns, which must fit; and an empty table `TOO_LATE`."""
    source = bound.source
    if source.changes:
        from muntin.sources.repeated_rows import TOO_LATE

        session.execute(f"CREATE OR REPLACE TEMP TABLE {TOO_LATE} (place BIGINT)")
    told_of_files = column_types(session, source, paths, bound.may_use)
    check_names(session, source, told_of_files.columns, paths)
    check_times(session, source, told_of_files.columns, paths)
    return told_of_files


def _timed(source: Source, read: str, split: Split, columns: Columns, *, ordinal: bool) -> str:
    """The rows with their times, and with what the log of their table tells of them."""
    if not split.steps:
        return f"({staged(source, read, columns, ordinal=ordinal)})"
    from muntin.sources.logged.table_changes import in_order, with_steps

    timed = staged(source, with_steps(read, split.steps), columns, ordinal=ordinal)
    return in_order(f"({timed})", split.steps, columns)


def _of_batch(source: Source, split: Split) -> str | None:
    """The condition on rows of files that other batches share, as of an upstream's; None: no other does."""
    return f"{source.batch_column} = make_timestamptz({split.batch_us})" if source.batch_column else None


def _in_order(source: Source) -> str:
    return f" ORDER BY {', '.join(map(quoted, source.order))}" if source.order else ""
