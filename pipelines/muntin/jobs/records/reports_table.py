"""The table of reports: what each step did with each batch, written down by every run."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from muntin.definition.instants import from_us
from muntin.jobs.records.report_files import crowd, telling_of, write_reports
from muntin.jobs.records.reports import ReadFile
from muntin.states.columns import INSTANT
from muntin.store.reading import read_files
from muntin.store.store import Change, Texts, after_conflicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.records.costs import Cost
    from muntin.jobs.records.reports import Accumulated, BatchReport, SourceRows
    from muntin.store.store import Store

TABLE = "reports"
_TRIES = 20
_SCHEMA = pa.schema(
    [
        ("batch", INSTANT),
        ("step", pa.string()),
        ("recorded_at", INSTANT),
        ("version", pa.string()),
        ("rows_read", pa.int64()),
        ("rows_accepted", pa.int64()),
        ("rows_quarantined", pa.int64()),
        ("source_changed", pa.bool_()),
        ("files", pa.string()),
        ("rows_late", pa.int64()),
        ("windows_closed", pa.string()),
        ("watermark", INSTANT),
        ("seconds", pa.float64()),
        ("cpu_seconds", pa.float64()),
        ("bytes_read", pa.int64()),
        ("bytes_written", pa.int64()),
    ]
)

_TEXTS = Texts(
    "reports",
    "What each step did with each batch, a row for each time",
    {
        "batch": "start of the batch's interval, UTC",
        "step": "accumulate: the source was read; publish: windows were published",
        "recorded_at": "when the step was done, UTC",
        "version": "of the batch's states: a name of their content",
        "rows_read": "rows of the source",
        "rows_accepted": "rows that counted",
        "rows_quarantined": "rows that were refused",
        "source_changed": "whether the batch was read before, from something else",
        "rows_duplicate": "rows that were left out: an earlier row told of the same event",
        "files_hidden": (
            "files that were passed over: their names, or names of their folders, begin with `_` or `.`"
        ),
        "rows_ambiguous": "rows with a local time that clocks show twice",
        "rows_nonexistent": "rows with a local time that clocks leave out",
        "rows_forgotten": "rows that were left out: their keys are forgotten",
        "sources": "JSON: source, how many of these rows came from it; where the pipeline has several",
        "despite": (
            "JSON: verdict, windows with their verdicts, by, reason: a person let it be published although"
            " its suite failed"
        ),
        "tables": (
            "JSON: window, the copy of the table that it was published by, whose name is that of its content"
            " (below `given/`)"
        ),
        "files": (
            "JSON: path, bytes, rows, time of the last change (ns), checksum of each file; its source, where"
            " there are several"
        ),
        "rows_late": (
            "rows that came too late for at least one window; sessions and windows by arrival, which may stay"
            " open for long, count by themselves, and the greatest count is reported"
        ),
        "windows_closed": "JSON: window, how many of it the batch closed, hidden ones too",
        "windows_hidden": "JSON: window, how many of these are hidden, as their having does not hold",
        "watermark": "how far time is known after the batch, UTC",
        "seconds": "of the run that published it, by the clock: the batch's share [s]",
        "cpu_seconds": (
            "of the run's processes: the batch's share [s]; workers of Spark elsewhere do not count"
        ),
        "bytes_read": "of files of the source that the run read: the batch's share",
        "bytes_written": "of files that the run added to tables: the batch's share",
    },
)

_DUPLICATES = pa.field("rows_duplicate", pa.int64())  # a column of tables of sources that compare rows
_HIDDEN = pa.field("files_hidden", pa.int64())  # a column of tables of sources where there were some
# columns of tables of sources with a zone
_ODD = (pa.field("rows_ambiguous", pa.int64()), pa.field("rows_nonexistent", pa.int64()))
_SOURCES = pa.field("sources", pa.string())  # a column of tables of pipelines with several sources
# a column of tables of pipelines whose windows have `having`
_WINDOWS_HIDDEN = pa.field("windows_hidden", pa.string())
# a column of tables of pipelines that have forgotten keys
_FORGOTTEN = pa.field("rows_forgotten", pa.int64())
_COUNTS = (_DUPLICATES, _HIDDEN, *_ODD, _FORGOTTEN)
_TABLES = pa.field("tables", pa.string())  # a column of tables of pipelines with windows given by a table
DESPITE = "despite"  # a column of tables of pipelines that published despite a failed suite
_MORE = (*_COUNTS, _SOURCES, _WINDOWS_HIDDEN, _TABLES, pa.field(DESPITE, pa.string()))
_NO_TABLES: Mapping[str, str] = MappingProxyType({})
_LEAST = timedelta(microseconds=1)
_ACCUMULATED = [
    "batch",
    "recorded_at",
    "version",
    "rows_read",
    "rows_accepted",
    "rows_quarantined",
    "source_changed",
    "files",
]
"""The columns that a report of accumulate fills."""


def record_accumulated(
    store: Store, batches: Sequence[Accumulated], now: datetime, *, decided_anew: bool = False
) -> dict[int, bool]:
    """Write down what was read; return for each batch whether its source has changed since the last time.

    `decided_anew`: whether they were read again since other rows of them are duplicates, so that other states
    come of the same source.
    """
    last = last_accumulated(store, [one.interval for one in batches])
    # the newest report counts, though a clock went back
    now = max([now, *(report["recorded_at"] + _LEAST for report in last.values())])
    changed = {
        one.interval.start_us: _differs(
            last.get(one.interval.start_us), one, same_version=decided_anew or one.forgotten > 0
        )
        for one in batches
    }
    rows = [
        {
            "batch": from_us(one.interval.start_us),
            "step": "accumulate",
            "version": one.version,
            "rows_read": one.read,
            "rows_accepted": one.taken,
            "rows_quarantined": one.refused,
            "source_changed": changed[one.interval.start_us],
            "files": json.dumps([_entry(file) for file in one.manifest]),
            **_counts(one.twice, one.hidden, one.ambiguous, one.nonexistent, one.forgotten),
            **_rows_by_source(one.sources),
        }
        for one in batches
    ]
    _append(store, rows, now)
    return changed


def _entry(file: ReadFile) -> tuple[Any, ...]:
    entry = (file.path, file.bytes, file.rows, file.written_ns, file.checksum)
    return (*entry, file.source) if file.source else entry


def manifest(report: Mapping[str, Any]) -> list[ReadFile]:
    """The files that a report of accumulate tells of."""
    return [ReadFile(*entry) for entry in json.loads(report["files"])]


def report_of_source(report: Mapping[str, Any], source: str) -> Mapping[str, Any]:
    """A report of accumulate with the files of one of several sources alone."""
    return {
        **report,
        "files": json.dumps(
            [_entry(replace(file, source=None)) for file in manifest(report) if file.source == source]
        ),
    }


def _differs(before: Mapping[str, Any] | None, now: Accumulated, *, same_version: bool) -> bool:
    """Whether a batch has other files, or files with another content, as far as that is known.

    `same_version`: whether another version of the states says nothing of the source.
    """
    if before is None or (before["version"] != now.version and not same_version):
        return before is not None
    was = manifest(before)
    pairs = list(zip(was, now.manifest, strict=False))
    return len(was) != len(now.manifest) or any(
        (one.path, one.bytes, one.rows) != (other.path, other.bytes, other.rows)
        or (one.checksum and other.checksum and one.checksum != other.checksum)
        for one, other in pairs
    )


def record_published(
    store: Store,
    batches: Sequence[BatchReport],
    now: datetime,
    cost: Cost,
    tables: Mapping[str, str] = _NO_TABLES,
) -> None:
    """Write down what became of the batches of a run, each with its share of the run's cost.

    `tables`: window -> the copy of the table that says where its windows lie.
    """
    share = asdict(cost.share(max(1, len(batches))))
    _append(
        store,
        [
            {
                "batch": one.interval_start,
                "step": "publish",
                "rows_read": one.rows_read,
                "rows_accepted": one.rows_accepted,
                "rows_quarantined": one.rows_quarantined,
                "rows_late": one.rows_late,
                **_counts(
                    one.rows_duplicate,
                    one.files_hidden,
                    one.rows_ambiguous,
                    one.rows_nonexistent,
                    one.rows_forgotten,
                ),
                **_rows_by_source(one.sources),
                "windows_closed": json.dumps(dict(one.windows_closed)),
                **(
                    {_WINDOWS_HIDDEN.name: json.dumps(dict(one.windows_hidden))} if one.windows_hidden else {}
                ),
                "watermark": one.watermark,
                **({"tables": json.dumps(dict(tables))} if tables else {}),
                **({DESPITE: json.dumps(dict(one.despite))} if one.despite else {}),
                **share,
            }
            for one in batches
        ],
        now,
    )


def _counts(*rows: int) -> dict[str, int]:
    return {column.name: count for column, count in zip(_COUNTS, rows, strict=True) if count}


def _rows_by_source(sources: Mapping[str, SourceRows]) -> dict[str, str]:
    return (
        {_SOURCES.name: json.dumps({name: rows.to_dict() for name, rows in sources.items()})}
        if sources
        else {}
    )


def _append(store: Store, rows: list[dict[str, Any]], now: datetime) -> None:
    if not rows:
        return
    folder = store.root / TABLE
    schema = pa.schema([*_SCHEMA, *(each for each in _MORE if any(each.name in row for row in rows))])
    new = write_reports(pa.Table.from_pylist([{**row, "recorded_at": now} for row in rows], schema), folder)
    for attempt in after_conflicts(
        _TRIES, f"{folder}: other runs keep writing reports; run again when they are done"
    ):
        with attempt:
            base = store.snapshot(TABLE)
            if any(file.path == new.path for file in base.files):
                return
            small = crowd(base.files)
            large = (
                [
                    write_reports(
                        read_files(folder, replace(base, files=tuple(small))).sort_by("batch"), folder
                    )
                ]
                if small
                else []
            )
            store.commit(TABLE, base, Change(schema, [new, *large], list(small), [], texts=_TEXTS))


def last_accumulated(
    store: Store, intervals: Sequence[Interval] | None = None
) -> dict[int, Mapping[str, Any]]:
    """Start of a batch -> its newest report of accumulate.

    With `intervals`, of batches from the first to the last of them alone.
    """
    snapshot, condition = store.snapshot(TABLE), ds.field("step") == "accumulate"
    if snapshot.version < 0 or (intervals is not None and not intervals):
        return {}
    if intervals is not None:
        low, high = min(each.start_us for each in intervals), max(each.start_us for each in intervals)
        snapshot = replace(snapshot, files=telling_of(snapshot.files, low, high))
        condition &= (ds.field("batch") >= from_us(low)) & (ds.field("batch") <= from_us(high))
    more_columns = [each.name for each in _MORE if snapshot.schema and each.name in snapshot.schema.names]
    table = read_files(store.root / TABLE, snapshot, [*_ACCUMULATED, *more_columns], condition).sort_by(
        "recorded_at"
    )
    starts = table["batch"].cast(pa.int64()).to_pylist()
    rows = (
        {
            **row,
            **{each.name: row.get(each.name) or 0 for each in _COUNTS},
            _SOURCES.name: row.get(_SOURCES.name),
        }
        for row in table.to_pylist()
    )
    return dict(zip(starts, rows, strict=True))


def last_read_at(store: Store) -> datetime | None:
    """When a batch was last read; None if none was."""
    snapshot = store.snapshot(TABLE)
    if snapshot.version < 0:
        return None
    rows = read_files(store.root / TABLE, snapshot, ["recorded_at"], ds.field("step") == "accumulate")
    return pc.max(rows["recorded_at"]).as_py()  # type: ignore[no-any-return]


def utc_now() -> datetime:
    """The clock, asked here alone."""
    return datetime.now(UTC)
