"""The rows of the source that may lie in drawn windows, batch by batch, as a run takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import pyarrow as pa

from muntin.definition.schedule import Interval
from muntin.errors import MuntinError
from muntin.jobs.accumulate.shares import split_batch, taken
from muntin.jobs.accumulate.split_rows import plainly
from muntin.jobs.inputs.inputs import difference, inputs
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.bound import Bound
from muntin.sources.reading.bad_files import check_whole
from muntin.sources.reading.row_groups import rows_of
from muntin.sources.reading.scan import quoted
from muntin.sources.sessions.duckdb_session import kept_session, said, sessions_of_a_task
from muntin.sources.sessions.fetched_files import fetched_once
from muntin.sources.sessions.listed_files import let_read
from muntin.states.columns import EVENT_TIME, ORDINAL, SOURCE_ROWS

DRAWN = "muntin_drawn"


class NotJudgedError(Exception):
    """Rows that a run took otherwise than the oracle can."""


@dataclass(frozen=True)
class BatchRows:
    """The rows of a batch.

    Attributes:
        count: rows that were read.
        newest_us: the largest event time of the accepted rows, also of rows that `where` leaves out; None
            without rows.
        rows: number of a drawn window -> its rows, in order of arrival, with `t`, the time, and the values.
    """

    count: int
    newest_us: int | None
    rows: Mapping[int, Sequence[Mapping[str, Any]]]


def why_not(bound: Bound) -> str | None:
    """The reason why rows of this definition are not judged; None if they are."""
    source = bound.source
    reasons = {
        "it has several sources": bool(bound.pipeline.sources),
        "its rows are windows of another pipeline": source.upstream is not None,
        "its rows are not read from files or a table": not (hasattr(source, "patterns") or source.log),
        "rows repeat and change others": bool(source.dedupe or source.changes),
        "rows look up dimensions": bool(bound.pipeline.lookups),
        "keys were forgotten": bool(bound.forgotten.columns),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


@sessions_of_a_task()
def rows_of_batch(
    bound: Bound, interval: Interval, drawn: pa.Table, keys: Sequence[str], values: Mapping[str, str]
) -> BatchRows:
    """The rows of a batch that lie in drawn windows.

    `drawn`: the number, `low` and `high` (event times, both inside) of each window, and its keys as `k0`,
    `k1`. `values`: column -> SQL over a row.

    Raises:
        NotJudgedError: the files are not as they were read, or not all rows can be read.
    """
    try:
        given = inputs(bound, [interval], allow_missing=True)
        bound, files = given.of(bound), given.files[interval]
        report = last_accumulated(bound.store, [interval]).get(interval.start_us)
        if report is None or (why := difference(bound, report, files)):
            raise NotJudgedError(f"{interval}: {why if report else 'there is no report of it'}")
        if report["rows_duplicate"] or report["rows_forgotten"]:
            raise NotJudgedError(f"{interval}: rows were left out, as they repeat others or are forgotten")
        session = kept_session(bound.source.timezone)
        let_read(session, bound.source, (file.path for file in files))
        session.register(DRAWN, drawn)
        with fetched_once(files):
            return _read(session, bound, interval, keys, values, report, given.files[interval])
    except duckdb.Error as wrong:
        raise NotJudgedError(f"{interval}: not all rows can be read ({said(wrong)})") from wrong
    except MuntinError as wrong:
        raise NotJudgedError(f"{interval}: {wrong}") from wrong


def _read(
    session: duckdb.DuckDBPyConnection,
    bound: Bound,
    interval: Interval,
    keys: Sequence[str],
    values: Mapping[str, str],
    report: Mapping[str, Any],
    files: Sequence[Any],
) -> BatchRows:
    count, accepted, newest = 0, 0, list[int]()
    in_windows: dict[int, list[Mapping[str, Any]]] = {}
    for whole in split_batch(bound, interval, files, None):
        split = replace(whole, rows=rows_of(whole.paths[0], whole.part)) if whole.part else whole
        check_whole(bound.source, split.paths, bound.may_use, split.rows)
        rows = plainly(session, bound, split)
        condition = taken(bound, split).condition
        good = f"FILTER (WHERE {condition})"
        tally = f"SELECT count(*), count(*) {good}, max({EVENT_TIME}) {good}"
        [(read, taken_in, last)] = session.execute(f"{tally} FROM {rows.rows} AS {SOURCE_ROWS}").fetchall()
        count, accepted, newest = (
            count + read,
            accepted + taken_in,
            [*newest, *([] if last is None else [last])],
        )
        has_order = ORDINAL in session.sql(f"FROM {rows.rows} AS {SOURCE_ROWS} LIMIT 0").columns
        query = _query(bound, rows.rows, condition, keys, values, has_order=has_order)
        for row in session.sql(query).to_arrow_table().to_pylist():
            in_windows.setdefault(row["number"], []).append(row)
    if accepted != report["rows_read"] - report["rows_quarantined"]:
        raise NotJudgedError(
            f"{interval}: the run accepted {report['rows_read'] - report['rows_quarantined']} rows, and"
            f" {accepted} have a time that counts: rows in quarantine are judged by nothing here"
        )
    for in_window in in_windows.values():
        in_window.sort(
            key=lambda row: [_null_last(row[f"p{at}"]) for at in range(len(_rolled_up(bound, keys)))]
        )
    return BatchRows(count, max(newest, default=None), in_windows)


def _rolled_up(bound: Bound, keys: Sequence[str]) -> list[str]:
    """The keys of the pipeline that a rollup is without: at one time, its rows are in their order."""
    return [key for key in bound.pipeline.keys if key not in keys]


def _null_last(value: Any) -> tuple[bool, Any]:  # noqa: ANN401 - a key of any type
    return (value is None, 0 if value is None else value)


def _query(
    bound: Bound,
    rows: str,
    condition: str,
    keys: Sequence[str],
    values: Mapping[str, str],
    *,
    has_order: bool,
) -> str:
    """SQL for the rows in drawn windows, by arrival."""
    where = f"{condition} AND ({bound.pipeline.filter})" if bound.pipeline.filter else condition
    chosen = [f"{EVENT_TIME} AS t", f"{ORDINAL if has_order else 0} AS arrival"]
    chosen += [f"{SOURCE_ROWS}.{quoted(key)} AS k{at}" for at, key in enumerate(keys)]
    chosen += [f"{SOURCE_ROWS}.{quoted(key)} AS p{at}" for at, key in enumerate(_rolled_up(bound, keys))]
    chosen += [f"({sql}) AS {name}" for name, sql in values.items()]
    same = [f"r.k{at} IS NOT DISTINCT FROM d.k{at}" for at in range(len(keys))]
    return (
        f"SELECT d.number, r.* FROM (SELECT {', '.join(chosen)} FROM {rows} AS {SOURCE_ROWS} WHERE {where}) r"
        f" JOIN {DRAWN} d ON {' AND '.join(['r.t BETWEEN d.low AND d.high', *same])} ORDER BY r.arrival"
    )
