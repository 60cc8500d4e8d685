"""Facts of rows in the footers of Parquet files, before the rows are read: their number, and between which
times they lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.sources.logged.numbered_fields import selected
from muntin.sources.reading.local_times import CHANGE, odd
from muntin.sources.reading.row_times import event_time, local_time
from muntin.sources.reading.scan import files_sql, literal, quoted
from muntin.states.columns import EVENT_TIME
from muntin.states.derived_columns import Extent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from muntin.sources.reading.taken_times import Taken
    from muntin.sources.source import Columns, Source


def told_extent(
    session: DuckDBPyConnection,
    source: Source,
    paths: Sequence[str],
    columns: Columns,
    times: Taken,
    rows: range | None,
) -> Extent | None:
    """The extent of a split's rows by the footers; None if footers have no times, or have times that are not
    taken.

    None, too, if clocks are changed between the local times of a row group: its instants need not lie between
    the instants of its ends, and local times that come twice or never are counted by rows. A writer may err
    on the times: whoever relies on them must read the rows, too. `rows`: of the only path, the numbers of the
    rows that are asked for, whole row groups; None: all.
    """
    if source.numbered and any(selected(source.numbered, path) for path in paths):
        return None  # a column of the name may be another
    if columns.get(source.event_time) == "DOUBLE":
        return None  # footers need not have its digits
    local = local_time(source, source.event_time, columns)
    clock, even = (f"{CHANGE}({local})", f" AND {odd(local)} = 0") if local else ("0", "")
    part, before = "", "0"
    if rows is not None:
        part = f"WHERE muntin_before >= {rows.start} AND muntin_before < {rows.stop}"
        before = (
            "sum(row_group_num_rows) OVER (PARTITION BY file_name ORDER BY row_group_id) - row_group_num_rows"
        )
    query = f"""
        WITH found AS (
            SELECT file_name AS muntin_path, row_group_id AS muntin_group, row_group_num_rows AS muntin_count,
                [stats_min_value, stats_max_value] AS muntin_ends, {before} AS muntin_before
            FROM parquet_metadata({files_sql(source, paths)})
            WHERE path_in_schema = {literal(source.event_time)} AND type <> 'BYTE_ARRAY'
        ), ends AS (
            SELECT muntin_path, muntin_group, muntin_count,
                TRY_CAST(unnest(muntin_ends) AS {columns[source.event_time]}) AS {quoted(source.event_time)}
            FROM found {part}
        )
        SELECT muntin_path, muntin_group, {clock}, muntin_count, {EVENT_TIME}, {times.condition}{even}
        FROM (SELECT *, {event_time(source, columns)} AS {EVENT_TIME} FROM ends)
    """
    # counted here: DuckDB takes longer to plan a query than to answer it
    ends = session.execute(query).fetchall()
    counts = {(path, group): count for path, group, _, count, _, _ in ends}
    clocks, files = {each[:3] for each in ends}, {path for path, _ in counts}
    if (
        len(files) != len(paths)
        or not len(ends) == 2 * len(counts) == 2 * len(clocks)
        or not all(is_accepted for *_, is_accepted in ends)
    ):
        return None
    moments = [moment for *_, moment, _ in ends]
    return Extent(sum(counts.values()), min(moments), max(moments))
