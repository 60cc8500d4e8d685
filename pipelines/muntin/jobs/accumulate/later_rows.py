"""The rows of a batch as later batches changed them, without the rows that were taken back.

batch 0    7: c, 10     8: c, 5     9: c, 1          rows of batch 0 then    7: u, 12     9: c, 1
batch 2    7: u, 12     8: d        5: u, 3                                  8 is taken back, 5 is not at home
here

A row that changes another takes its place in the order of rows: sums of doubles equal the sums of a clean
run.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from muntin.errors import SourceError
from muntin.jobs.accumulate.shares import Split, taken
from muntin.jobs.accumulate.split_deduplication import REPEATED, ids_of_rows
from muntin.jobs.accumulate.split_rows import carefully
from muntin.jobs.deduplication.earlier import name_of_changes, together
from muntin.jobs.deduplication.event_ids import Ids, of_batch
from muntin.jobs.quarantine.refused_rows_kept import ONCE
from muntin.jobs.schema_check.fitting_files import fitting
from muntin.sources.casts import widened
from muntin.sources.reading.answers import with_answers
from muntin.sources.reading.scan import aliased, quoted
from muntin.sources.reading.sql_types import common_type
from muntin.sources.repeated_rows import once
from muntin.sources.sessions.duckdb_session import careful_session, described, explained
from muntin.states.columns import ID_HIGH, ID_LOW, ORDINAL, ROW_IN_SPLIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muntin.jobs.accumulate.shares import Later, Share
    from muntin.jobs.accumulate.split_deduplication import ComparedRows
    from muntin.jobs.accumulate.split_rows import SplitRows
    from muntin.sources.reading.mended import Mended
    from muntin.sources.reading.refused_rows import Taken
    from muntin.sources.source import Columns

_IDS, _OWN, _THERE, _LATER, _CHANGED = (
    "muntin_ids",
    "muntin_own_ids",
    "muntin_ids_there",
    "muntin_later_rows",
    "muntin_changed",
)


def changed(
    session: duckdb.DuckDBPyConnection,
    share: Share,
    split: Split,
    split_rows: SplitRows,
    compared: ComparedRows,
) -> tuple[SplitRows, ComparedRows]:
    """The rows of a split with the changes of later batches, and what is known of them.

    The table `ONCE` has the last row of each id of the split, of which `split_rows` are rows; `REPEATED` has
    rows of other batches, if any. A column whose types there go with no type here is an error.
    """
    names = list[int]()
    for later in split.later if share.earlier else ():
        columns, met, name = _change(session, share, split, later, split_rows.columns, compared.own)
        names.append(name)
        looked_up = (
            pa.concat_tables([split_rows.met, met])
            if split_rows.met is not None and met is not None
            else split_rows.met
        )
        split_rows = split_rows._replace(columns=columns, met=looked_up)
    changes = share.bound.source.changes
    assert changes is not None, "rows change others"  # noqa: S101 - asked before
    taken_back = f"{changes.takes_back} AND {taken(share.bound, split).condition}"
    for table in (ONCE, *([REPEATED] if compared.repeated else [])):
        session.execute(f"DELETE FROM {table} WHERE {taken_back}")
    return split_rows, compared._replace(decided=together(compared.decided, names))


def _changing(session: duckdb.DuckDBPyConnection, share: Share, later: Later, own: pa.Table | None) -> Ids:
    """The ids by which a later batch changes rows of `ONCE`, as the table of ids has them: none of a row that
    was refused there.

    `own`: ids and places of `ONCE`.
    """
    assert share.earlier is not None, "later batches are known by ids"  # noqa: S101 - the tables of ids can be read
    ids = share.earlier.ids_of(np.array([later.batch_us]))
    session.register(_OWN, own)
    session.register(_THERE, ids.halves().append_column("number", pa.array(np.arange(len(ids)))))
    number = session.execute(
        f"SELECT number FROM {_THERE} SEMI JOIN {_OWN} USING ({ID_HIGH}, {ID_LOW})"
    ).fetchnumpy()["number"]
    session.unregister(_OWN)
    session.unregister(_THERE)
    return ids.take(np.sort(number))


def _change(
    session: duckdb.DuckDBPyConnection,
    share: Share,
    split: Split,
    later: Later,
    columns: Columns,
    own: pa.Table | None,
) -> tuple[Mapping[str, str], pa.Table | None, int]:
    """Put the rows of a later batch in place of rows of `ONCE`; the types that columns have then, what these
    rows looked up, and the name of the changes: of what was known of the later batch, whatever was decided of
    it before.

    `own`: ids and places of `ONCE`.
    """
    ids = _changing(session, share, later, own)
    rows, kinds, met = _rows_of(share, later, ids, split.batch_us) if len(ids) else (pa.table({}), {}, None)
    if not len(rows):
        return columns, met, name_of_changes(ids)
    both = _both(share, later, columns, kinds)
    session.register(_LATER, rows)
    session.register(_OWN, own)
    join = (
        f"{_LATER} AS later JOIN {_OWN} AS own USING ({ID_HIGH}, {ID_LOW}) JOIN {ONCE} AS once ON"
        f" once.{ORDINAL} = own.{ORDINAL}{_is_newest(share, both)}"
    )
    here = _cast("once", columns, both)
    there = _cast("later", kinds, both)
    names = [name for name in described(session, f"FROM {ONCE}") if name not in both]
    place = ", ".join(quoted(name) for name in names)
    unmoved = {ORDINAL, ROW_IN_SPLIT, *(name for name in names if name not in rows.column_names)}
    moved = ", ".join(f"{'once' if name in unmoved else 'later'}.{quoted(name)}" for name in names)
    gone = f"{ORDINAL} NOT IN (SELECT once.{ORDINAL} FROM {join})"
    session.execute(
        f"CREATE OR REPLACE TEMP TABLE {_CHANGED} AS SELECT {here}, {place} FROM {ONCE} AS once WHERE {gone} "
        f"UNION ALL SELECT {there}, {moved} FROM {join}"
    )
    session.execute(f"CREATE OR REPLACE TEMP TABLE {ONCE} AS FROM {_CHANGED} ORDER BY {ORDINAL}")
    session.execute(f"DROP TABLE {_CHANGED}")
    session.unregister(_LATER)
    session.unregister(_OWN)
    return both, met, name_of_changes(ids)


def _is_newest(share: Share, both: Columns) -> str:
    """SQL behind a condition for whether a later row is as new as the row at home; "" where each is."""
    newest_by = share.bound.source.changes.newest_by if share.bound.source.changes else None
    if not newest_by:
        return ""
    (kind,) = (kind for name, kind in both.items() if name.lower() == newest_by.lower())
    later, once = (f"{table}.{quoted(newest_by)}::{kind}" for table in ("later", "once"))
    return f" AND {later} >= {once}"


def _both(share: Share, later: Later, columns: Columns, kinds: Columns) -> dict[str, str]:
    """Column -> the type that has the values of both batches; SourceError if there is none."""
    types = {name: _wide(kind, kinds.get(name, kind)) for name, kind in columns.items()}
    for name, kind in types.items():
        if kind is None:
            raise SourceError(
                f"{later.paths[0]}: {name} is {kinds[name]}, and {columns[name]} in the batch whose rows it"
                " changes; "
                f'give both one type, as types={{"{name}": "{columns[name]}"}} in {share.bound.source.call}'
            )
    return {name: kind for name, kind in types.items() if kind}


def _wide(one: str, other: str) -> str | None:
    """The common type of two columns of files: whole numbers of JSON are HUGEINT where BIGINT has not all."""
    wide = common_type(*(each.replace("HUGEINT", "BIGINT") for each in (one, other)))
    return wide.replace("BIGINT", "HUGEINT") if wide and "HUGEINT" in one + other else wide


def _cast(table: str, kinds: Columns, both: Columns) -> str:
    """SQL for the columns of a table in the types of both batches."""

    def cast(name: str, kind: str) -> str:
        value = f"{table}.{quoted(name)}"
        return value if kinds[name] == kind else widened(value, kinds[name], kind)

    return aliased(
        {name: cast(name, kind) if name in kinds else f"NULL::{kind}" for name, kind in both.items()}
    )


def _rows_of(share: Share, later: Later, ids: Ids, home_us: int) -> tuple[pa.Table, Columns, pa.Table | None]:
    """The last row of each id in a later batch that is among some ids, with `ID_HIGH` and `ID_LOW`; the types
    of their columns; and what the rows looked up, as of the batch that they are at home in.
    """
    with rows_among(share, later, ids) as later_rows:
        if not later_rows:
            return pa.table({}), {}, None
        source = share.bound.source
        met = (
            with_answers(later_rows.session, source, later_rows.rows, later_rows.times.in_time, home_us)[1]
            if source.lookups
            else None
        )
        return later_rows.session.table(later_rows.rows).to_arrow_table(), later_rows.columns, met


class LaterRows(NamedTuple):
    """Rows of a later batch: the session, the table of these rows there, the types of their columns, their
    files, and the times taken.
    """

    session: duckdb.DuckDBPyConnection
    rows: str
    columns: Columns
    files: Mended
    times: Taken


@contextmanager
def rows_among(share: Share, later: Later, ids: Ids) -> Iterator[LaterRows | None]:
    """The last row of each id in a later batch that is among some ids, with `ID_HIGH` and `ID_LOW`; None
    where no row can be read.

    What cannot be read of it is in the quarantine of its own batch.
    """
    with _with_ids(share, later) as later_rows:
        if later_rows:
            later_rows.session.register(_THERE, ids.halves())
            among = f"FROM {_IDS} SEMI JOIN {_THERE} USING ({ID_HIGH}, {ID_LOW})"
            query = (
                f"SELECT once.*, ids.{ID_HIGH}, ids.{ID_LOW} FROM ({among}) AS ids JOIN {ONCE} AS once USING"
                f" ({ORDINAL})"
            )
            later_rows.session.execute(f"CREATE OR REPLACE TEMP TABLE {_LATER} AS {query}")
        yield later_rows._replace(rows=_LATER) if later_rows else None


def ids_in(share: Share, batch: Later) -> Ids:
    """The ids of a batch by its files, whatever is known of them."""
    try:
        with _with_ids(share, batch) as later_rows:
            return (
                of_batch(
                    later_rows.session.table(later_rows.rows).to_arrow_table(), batch.batch_us, changes=True
                )
                if later_rows
                else Ids.none()
            )
    except duckdb.Error as wrong:
        raise explained(wrong, batch.paths) from wrong


@contextmanager
def _with_ids(share: Share, later: Later) -> Iterator[LaterRows | None]:
    """The ids of a batch, and the last row of each id in the table `ONCE`; None: no row can be read."""
    source = share.bound.source
    split = Split(later.batch_us, later.end_us, 0, later.paths, only=True, steps=later.steps)
    with (
        careful_session(source, later.paths) as session,
        fitting(session, share.bound, later.paths) as (bound, files),
    ):
        if files.has_no_row_left:
            yield None
            return
        split_rows = carefully(session, bound, split, files)
        times = taken(bound, split)
        session.execute(
            f"CREATE OR REPLACE TEMP TABLE {ONCE} AS {once(split_rows.rows, times, source.changes)}"
        )
        session.execute(
            f"CREATE OR REPLACE TEMP TABLE {_IDS} AS {ids_of_rows(source, ONCE, split_rows.columns, times)}"
        )
        yield LaterRows(session, _IDS, split_rows.columns, files, times)
