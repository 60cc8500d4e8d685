"""The rows of a split become its files: a file of states for each frame set, and one of refused rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.aggregates.aggregate import sealed
from muntin.engine.merged_states import merged, runs
from muntin.jobs.accumulate.bundle_states import encoding
from muntin.jobs.accumulate.forgotten_rows import left_out, refused_left
from muntin.jobs.accumulate.row_changes.later_rows import changed
from muntin.jobs.accumulate.row_changes.split_deduplication import REPEATED, without_repeated
from muntin.jobs.accumulate.shares import taken
from muntin.jobs.accumulate.slot_lift import slot_lift
from muntin.jobs.accumulate.split_rows import Counted
from muntin.jobs.accumulate.types_of_states import types_of_states
from muntin.jobs.deduplication.changed_rows import together
from muntin.jobs.inputs.dimensions.met_rows import name_of_met, write_met
from muntin.jobs.quarantine.refused_places import ONCE
from muntin.jobs.schema_check.columns_of_files import check_files, lacking_files
from muntin.sources.reading.lift import rows_as_states, states, tally
from muntin.sources.reading.row_times import local_time
from muntin.sources.reading.sql_types import stored
from muntin.sources.repeated_rows import once
from muntin.sources.sessions.duckdb_session import described
from muntin.states.checkpoint import arranged, frame_range, with_files
from muntin.states.columns import FIRST_EVENT, FRAME, INSTANT, LAST_EVENT
from muntin.states.derived_columns import row_count
from muntin.states.rows_in_slots import extent_of
from muntin.store.parquet import write_named
from muntin.store.paths import QUARANTINE, StatesPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from muntin.definition.frame_sets import FrameSet
    from muntin.jobs.accumulate.shares import Share, Split
    from muntin.jobs.accumulate.split_rows import SplitRows
    from muntin.sources.reading.taken_times import Taken
    from muntin.sources.repeated_rows import Changes


def accumulate_rows(
    session: duckdb.DuckDBPyConnection, share: Share, split: Split, split_rows: SplitRows
) -> dict[str, Any]:
    """Write the files of a split; what was counted of it, and the files.

    A function of the user may raise whatever it likes.
    """
    times = taken(share.bound, split)
    local = local_time(share.bound.source, share.bound.source.event_time, split_rows.columns) is not None
    first = counted = _reported(share, split_rows) or count(session, split_rows.rows, times, local=local)
    by_file, compared, every = split_rows.by_file(first.read), None, split_rows.rows
    if share.bound.source.dedupe:
        split_rows = replace(
            split_rows, rows=_once(session, split_rows.rows, times, share.bound.source.changes)
        )
        if share.bound.source.dedupe_within_us is not None:
            compared = without_repeated(session, share, split, split_rows.rows, split_rows.columns, times)
        if compared and compared.late:
            first = count(session, every, times, local=local)
        if compared and share.bound.source.changes:
            split_rows, compared = changed(session, share, split, split_rows, compared)
        counted = count(session, split_rows.rows, times)
    left = left_out(session, share.bound, split_rows.rows, split_rows.columns, times)
    times = left.times
    check_files(
        session,
        share.bound,
        split_rows.columns,
        [path for path, count in zip(split_rows.paths, by_file, strict=True) if count],
    )
    states = dict[str, Any]()
    for frames in share.bound.frame_sets:
        if compared and compared.repeated:
            _lifted(
                session,
                share,
                split,
                frames,
                replace(split_rows, rows=REPEATED),
                times,
                count(session, REPEATED, times),
            )  # a faulty row is refused, whatever it repeats
        table, wider, counted = _lifted(session, share, split, frames, split_rows, times, counted)
        newest = counted.newest if split.watermark_us is None else split.watermark_us
        met = name_of_met(split_rows.met)
        decided = together(compared.decided, (met,)) if compared else met
        written, rows = _write_states(share, split, frames, left.marked(table), newest, by_file, decided)
        states[frames.table] = written | {"wider": wider}
    refused = split_rows.bad + first.read - (first if first.exact else counted).accepted
    lost = refused_left(share.bound, split_rows.refused()) if refused else None
    refused_rows = len(lost) if share.bound.forgotten and lost is not None else refused
    return {
        "batch": split.batch_us,
        "split": split.number,
        "read": first.read + split_rows.bad,
        "taken": rows,
        "newest": newest,
        "twice": first.read - counted.read - (compared.late if compared else 0),
        "ambiguous": first.ambiguous,
        "nonexistent": first.nonexistent,
        "states": states,
        "ids": compared.ids if compared else None,
        "met": write_met(share.bound, split_rows.met, split.batch_us, split.number),
        "rows": split_rows.in_files(by_file),
        "columns": [split.paths[0], list(split_rows.columns.items())],
        "lacks": lacking_files(session, share.bound.source, split_rows.paths),
        "forgotten": left.rows + refused - refused_rows,
        "refused_rows": refused_rows,
        "refused": write_refused(share, split, lost) if lost is not None and refused_rows else None,
    }


def _reported(share: Share, split_rows: SplitRows) -> Counted | None:
    """The facts of the rows by their footers, where states show which rows are accepted: all states, of all
    rows.
    """
    bound = share.bound
    return None if bound.source.dedupe or bound.pipeline.where or bound.forgotten else split_rows.counted()


def count(session: duckdb.DuckDBPyConnection, rows: str, times: Taken, *, local: bool = False) -> Counted:
    """The number of rows, the number of accepted rows, and the times of the accepted rows; of `local` times
    how many are odd.
    """
    return Counted(*session.execute(tally(rows, times, local=local)).fetchall()[0])


def _once(session: duckdb.DuckDBPyConnection, rows: str, times: Taken, changes: Changes | None) -> str:
    """The table of the rows without duplicates."""
    session.execute(f"CREATE OR REPLACE TEMP TABLE {ONCE} AS {once(rows, times, changes)}")
    return ONCE


def _lifted(
    session: duckdb.DuckDBPyConnection,
    share: Share,
    split: Split,
    frames: FrameSet,
    split_rows: SplitRows,
    times: Taken,
    counted: Counted,
) -> tuple[pa.Table, bool, Counted]:
    """The states of a frame set, whether a type is wider than in the state, and the rows, counted exactly."""
    asked = (share.bound.pipeline, share.bound.fields, frames, split_rows.rows, times, split_rows.columns)
    query = states(*asked)
    natural = described(session, query)
    kinds, wider = types_of_states(natural, share, frames, split.paths)
    extent = None
    if counted.extent and (
        in_slots := slot_lift(session, share, frames, split_rows, times, counted.extent, (natural, kinds))
    ):
        table, extent = sealed(in_slots.table, share.bound.fields), in_slots.extent
    elif rows := rows_as_states(*asked, (natural, kinds)):
        table = stored(session, rows.query, rows.kinds, natural).replace_schema_metadata(rows.footer)
        extent = extent_of(table, FRAME, FRAME)
    else:
        table = sealed(stored(session, query, kinds, natural), share.bound.fields)
        extent = (
            extent_of(table, FIRST_EVENT, LAST_EVENT) if frames.event_times and not frames.lifts else None
        )
        if not frames.by_arrival and any(each.is_state for each in share.bound.fields):
            table = merged(table, share.bound.pipeline.keys, share.bound.fields, frames.lifts)
    if not counted.exact:
        counted = counted.of(extent) if extent else count(session, split_rows.rows, times)
    return table, wider, counted


def _write_states(
    share: Share,
    split: Split,
    frames: FrameSet,
    table: pa.Table,
    newest: int | None,
    by_file: Sequence[int],
    decided: int,
) -> tuple[dict[str, Any], int]:
    """Write the states of a frame set; the file, and how many rows are in them."""
    table = with_files(table, by_file, split.first) if frames.by_arrival else table
    rows = row_count(table)
    table = arranged(table, share.bound.pipeline.keys, split.batch_us, frames.grain_us, split.number)
    table = (
        runs(table, share.bound.pipeline.keys, frames.run_us, share.bound.fields) if frames.run_us else table
    )
    name = StatesPath(
        split.batch_us, split.number, newest, *frame_range(table, frames.width_us), decided=decided
    ).named
    return write_named(
        table, share.bound.table(frames.table), name, encoding(frames, share.bound.pipeline.keys)
    ), rows


def write_refused(share: Share, split: Split, table: pa.Table) -> dict[str, Any]:
    """Write the refused rows of a split, as `REFUSED` has them; the file."""
    batch = pa.repeat(pa.scalar(split.batch_us, pa.int64()), len(table)).view(INSTANT)
    table = table.add_column(0, "batch", batch)
    return write_named(
        table, share.bound.table(QUARANTINE), StatesPath(split.batch_us, split.number, None).named
    )
