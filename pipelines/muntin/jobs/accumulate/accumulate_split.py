"""The rows of a split become its files: a file of states for each frame set, and one of refused rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.aggregates.aggregate import sealed
from muntin.engine.merged_states import merged, runs
from muntin.jobs.accumulate.bundle_states import encoding
from muntin.jobs.accumulate.forgotten_rows import left_out, refused_left
from muntin.jobs.accumulate.shares import SplitResult, counted_split, taken
from muntin.jobs.accumulate.split_rows import MANY_ROWS, Counted
from muntin.jobs.quarantine.refused_rows_kept import ONCE
from muntin.jobs.records.reports import Counts
from muntin.jobs.schema_check.columns_of_files import check_files, lacking_files
from muntin.sources.reading.lift import rows_as_states, states, tally
from muntin.sources.reading.row_times import local_time
from muntin.sources.reading.sql_types import stored, targets_of
from muntin.sources.sessions.duckdb_session import described
from muntin.states.checkpoint import arranged, frame_range, with_files
from muntin.states.columns import FIRST_EVENT, FRAME, INSTANT, LAST_EVENT, ROW_BATCH
from muntin.states.derived_columns import extent_of, row_count
from muntin.store.parquet import write_named
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE, StatesPath
from muntin.timeline.batches import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from muntin.definition.frame_sets import FrameSet
    from muntin.jobs.accumulate.shares import Share, Split, WrittenFile
    from muntin.jobs.accumulate.split_rows import SplitRows
    from muntin.sources.reading.refused_rows import Taken
    from muntin.sources.source import Columns
    from muntin.states.derived_columns import Extent


def accumulate_rows(
    session: DuckDBPyConnection, share: Share, split: Split, split_rows: SplitRows
) -> SplitResult:
    """Write the files of a split, and count its rows.

    A function of the user may raise whatever it likes.
    """
    bound, source, times = share.bound, share.bound.source, taken(share.bound, split)
    local = local_time(source, source.event_time, split_rows.columns) is not None
    # where states show which rows are accepted, footers tell the rest
    by_footers = None if source.dedupe or bound.pipeline.where or bound.forgotten else split_rows.counted()
    first = counted = by_footers or count(session, split_rows.rows, times, local=local)
    by_file, compared, every = split_rows.by_file(first.read), None, split_rows.rows
    if source.dedupe:
        from muntin.sources.repeated_rows import once

        session.execute(f"CREATE OR REPLACE TEMP TABLE {ONCE} AS {once(every, times, source.changes)}")
        split_rows = split_rows._replace(rows=ONCE)
        if source.dedupe_within_us is not None:
            from muntin.jobs.accumulate.split_deduplication import without_repeated

            compared = without_repeated(session, share, split, ONCE, split_rows.columns, times)
        if compared and compared.late:
            first = count(session, every, times, local=local)
        if compared and source.changes:
            from muntin.jobs.accumulate.later_rows import changed

            split_rows, compared = changed(session, share, split, split_rows, compared)
        counted = count(session, split_rows.rows, times)
    left = left_out(session, bound, split_rows.rows, split_rows.columns, times)
    times, columns = left.times, split_rows.columns
    read_paths = [path for path, rows in zip(split_rows.paths, by_file, strict=True) if rows]
    check_files(session, bound, columns, read_paths)
    decided = UNDECIDED
    files: dict[str, WrittenFile | None] = {}
    if bound.pipeline.lookups:
        from muntin.jobs.inputs.dimensions.lookup_log import name_of_met, write_met

        decided = name_of_met(split_rows.met)
        files[LOOKED_UP] = write_met(bound, split_rows.met, split.batch_us, split.number)
    if compared:
        from muntin.jobs.deduplication.earlier import together

        decided = together(compared.decided, (decided,))
    for frames in bound.frame_sets:
        if compared and compared.repeated:  # a faulty row is refused, whatever it repeats
            from muntin.jobs.accumulate.split_deduplication import REPEATED

            extent = count(session, REPEATED, times).extent
            lifted(session, share, frames, REPEATED, columns, times, split.paths, extent)
        table, wider, extent = lifted(
            session, share, frames, split_rows.rows, columns, times, split.paths, counted.extent
        )
        if not counted.exact:
            counted = counted.of(extent) if extent else count(session, split_rows.rows, times)
        newest = counted.newest if split.watermark_us is None else split.watermark_us
        written, rows = _write_states(share, split, frames, left.marked(table), newest, by_file, decided)
        files[frames.table] = written | {"wider": wider}
    refused = split_rows.bad + first.read - (first if first.exact else counted).accepted
    lost = refused_left(bound, split_rows.refused()) if refused else None
    refused_rows = len(lost) if bound.forgotten and lost is not None else refused
    files[QUARANTINE] = write_refused(share, split, lost) if lost is not None and refused_rows else None
    files[IDS] = compared.ids if compared else None
    entry = counted_split(
        split,
        Counts(
            first.read + split_rows.bad,
            rows,
            refused_rows,
            first.read - counted.read - (compared.late if compared else 0),
            first.ambiguous,
            first.nonexistent,
            left.rows + refused - refused_rows,
        ),
        newest=newest,
        columns=[split.paths[0], list(columns.items())],
        lacks=lacking_files(session, source, split_rows.paths),
    )
    return SplitResult(entry, split_rows.in_files(by_file), files)


def count(session: DuckDBPyConnection, rows: str, times: Taken, *, local: bool = False) -> Counted:
    """The number of rows, the number of accepted rows, and the times of the accepted rows; of `local` times
    how many are odd.
    """
    return Counted(*session.execute(tally(rows, times, local=local)).fetchall()[0])


def lifted(
    session: DuckDBPyConnection,
    share: Share,
    frames: FrameSet,
    rows: str,
    columns: Columns,
    times: Taken,
    paths: Sequence[str],
    at_most: Extent | None = None,
    also: Sequence[str] = (),
) -> tuple[pa.Table, bool, Extent | None]:
    """The states of a frame set, whether a type is wider than in the state, and the extent of the accepted
    rows where states tell it.

    `rows`, `columns`, `times`, `also`: as for `states`. `paths`: of the files, for errors. `at_most`: the
    extent of the rows, at most; None where states are small.
    """
    bound = share.bound
    asked = (bound.pipeline, bound.fields, frames, rows, times, columns)
    query = states(*asked, also=also)
    natural = described(session, query)
    kinds, wider = types_of_states(natural, share, frames, paths)
    if at_most and at_most.rows > MANY_ROWS:
        from muntin.jobs.accumulate.slot_lift import slot_lift

        in_slots = slot_lift(session, bound, frames, rows, columns, times, at_most, (natural, kinds))
        if in_slots:
            return sealed(in_slots.table, bound.fields), wider, in_slots.extent
    if held := rows_as_states(*asked, (natural, kinds), also=also):
        table = stored(session, held.query, held.kinds, natural).replace_schema_metadata(held.footer)
        return table, wider, extent_of(table, FRAME, FRAME)
    table = sealed(stored(session, query, kinds, natural), bound.fields)
    has_ends = frames.event_times and not frames.lifts
    extent = extent_of(table, FIRST_EVENT, LAST_EVENT) if has_ends else None
    if not frames.by_arrival and any(each.is_state for each in bound.fields):
        table = merged(table, [*bound.pipeline.keys, *also], bound.fields, frames.lifts)
    return table, wider, extent


def _write_states(
    share: Share,
    split: Split,
    frames: FrameSet,
    table: pa.Table,
    newest: int | None,
    by_file: Sequence[int],
    decided: int,
) -> tuple[WrittenFile, int]:
    """Write the states of a frame set; the file, and how many rows are in them."""
    bound, keys = share.bound, share.bound.pipeline.keys
    table = with_files(table, by_file, split.first) if frames.by_arrival else table
    rows = row_count(table)
    table = arranged(table, keys, split.batch_us, frames.grain_us, split.number)
    table = runs(table, keys, frames.run_us, bound.fields) if frames.run_us else table
    name = StatesPath(
        split.batch_us, split.number, newest, *frame_range(table, frames.width_us), decided=decided
    ).named
    return write_named(table, bound.table(frames.table), name, encoding(frames, keys)), rows


def write_refused(share: Share, split: Split, table: pa.Table) -> WrittenFile:
    """Write the refused rows of a split, as `REFUSED` has them; the file."""
    batch = pa.repeat(pa.scalar(split.batch_us, pa.int64()), len(table)).view(INSTANT)
    name = StatesPath(split.batch_us, split.number, None).named
    return write_named(table.add_column(0, "batch", batch), share.bound.table(QUARANTINE), name)


def types_of_states(
    natural: Columns, share: Share, frames: FrameSet, paths: Sequence[str]
) -> tuple[dict[str, str], bool]:
    """Column -> SQL type of some files' states, and whether a type is wider than in the state. `natural`: as
    the files say.

    A type that contradicts earlier batches is an error.
    """
    targets = {**share.targets[frames.table], ROW_BATCH: "BIGINT"}
    # about expressions of which a field keeps hashes or texts of values
    about = {each.of for each in share.bound.fields if getattr(each.monoid, "hashes", False)}
    fields = [each for each in share.bound.fields if each.of in about]
    hashed = {column for each in fields for column in (*each.columns, *each.lifts)}
    kinds = targets_of(natural, targets, paths, hashed=hashed)
    return kinds, any(kind != targets.get(name, kind) for name, kind in kinds.items())
