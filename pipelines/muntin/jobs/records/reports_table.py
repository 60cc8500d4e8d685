"""The table of reports: what each step did with each batch, written down by every run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import from_us, instant_us
from muntin.definition.schedule import Interval
from muntin.files.paths import AnyPath
from muntin.jobs.records.costs import Cost
from muntin.jobs.records.report_files import append, telling_of, write_reports
from muntin.jobs.records.reports import COUNTED, Accumulated, BatchReport, Counts, ReadFile
from muntin.states.columns import INSTANT
from muntin.store.reading import read_files
from muntin.store.store import Store, Texts

TABLE = "reports"
DESPITE = "despite"  # a column of tables of pipelines that published despite a failed suite
_COLUMNS = {
    "batch": (INSTANT, "start of the batch's interval, UTC"),
    "step": (pa.string(), "accumulate: the source was read; publish: windows were published"),
    "recorded_at": (INSTANT, "when the step was done, UTC"),
    "version": (pa.string(), "of the batch's states: a name of their content"),
    "rows_read": (pa.int64(), "rows of the source"),
    "rows_accepted": (pa.int64(), "rows that counted"),
    "rows_quarantined": (pa.int64(), "rows that were refused"),
    "source_changed": (pa.bool_(), "whether the batch was read before, from something else"),
    "rows_duplicate": (pa.int64(), "rows that were left out: an earlier row told of the same event"),
    "files_hidden": (
        pa.int64(),
        "files that were passed over: their names, or names of their folders, begin with `_` or `.`",
    ),
    "rows_ambiguous": (pa.int64(), "rows with a local time that clocks show twice"),
    "rows_nonexistent": (pa.int64(), "rows with a local time that clocks leave out"),
    "rows_forgotten": (pa.int64(), "rows that were left out: their keys are forgotten"),
    "sources": (
        pa.string(),
        "JSON: source, how many of these rows came from it; where the pipeline has several",
    ),
    DESPITE: (
        pa.string(),
        (
            "JSON: verdict, windows with their verdicts, by, reason: a person let it be published although"
            " its suite failed"
        ),
    ),
    "tables": (
        pa.string(),
        (
            "JSON: window, the copy of the table that it was published by, whose name is that of its content"
            " (below `given/`)"
        ),
    ),
    "files": (
        pa.string(),
        (
            "JSON: path, bytes, rows, time of the last change (ns), name of the content of each file; its"
            " source, where there are several"
        ),
    ),
    "rows_late": (
        pa.int64(),
        (
            "rows that came too late for at least one window; sessions and windows by arrival, which may stay"
            " open for long, count by themselves, and the greatest count is reported"
        ),
    ),
    "windows_closed": (pa.string(), "JSON: window, how many of it the batch closed, hidden ones too"),
    "windows_hidden": (
        pa.string(),
        "JSON: window, how many of these are hidden, as their having does not hold",
    ),
    "rows_correcting": (
        pa.string(),
        "JSON: window, how many rows revised windows that were published, and missed none",
    ),
    "watermark": (INSTANT, "how far time is known after the batch, UTC"),
    "seconds": (pa.float64(), "of the run that published it, by the clock: the batch's share [s]"),
    "cpu_seconds": (
        pa.float64(),
        "of the run's processes: the batch's share [s]; workers of Spark elsewhere do not count",
    ),
    "bytes_read": (pa.int64(), "of files of the source that the run read: the batch's share"),
    "bytes_written": (pa.int64(), "of files that the run added to tables: the batch's share"),
}
_TEXTS = Texts(
    "reports",
    "What each step did with each batch, a row for each time",
    {name: text for name, (_, text) in _COLUMNS.items()},
)
_NO_TABLES: Mapping[str, str] = MappingProxyType({})
_LEAST = timedelta(microseconds=1)


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
            last.get(one.interval.start_us), one, same_version=decided_anew or one.counts.forgotten > 0
        )
        for one in batches
    }
    rows = [
        {
            "batch": from_us(one.interval.start_us),
            "step": "accumulate",
            "version": one.version,
            **one.counts.columns(),
            "files_hidden": one.hidden,
            "source_changed": changed[one.interval.start_us],
            "files": json.dumps([_entry(file) for file in one.manifest]),
            "sources": _rows_by_source(one.sources),
        }
        for one in batches
    ]
    _append(store, rows, now)
    return changed


def record_moved(store: Store, reports: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Write down where the files of batches lie by now, so that their contents are not compared again.

    `reports`: of accumulate, with the present files of their batches.
    """
    if reports:
        now = max([now, *(report["recorded_at"] + _LEAST for report in reports)])
        _append(store, [{**report, "step": "accumulate"} for report in reports], now)


def with_files(report: Mapping[str, Any], files: Sequence[ReadFile]) -> dict[str, Any]:
    """A report of accumulate with other files."""
    return {**report, "files": json.dumps([_entry(file) for file in files])}


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
                **{name: getattr(one, name) for name in (*COUNTED, "rows_late", "watermark")},
                "sources": _rows_by_source(one.sources),
                "windows_closed": json.dumps(dict(one.windows_closed)),
                "windows_hidden": _json(one.windows_hidden),
                "rows_correcting": _json(one.rows_correcting),
                "tables": _json(tables),
                DESPITE: _json(one.despite),
                **share,
            }
            for one in batches
        ],
        now,
    )


def _rows_by_source(sources: Mapping[str, Counts]) -> str | None:
    return _json({name: rows.to_dict() for name, rows in sources.items()})


def _json(facts: Mapping[str, Any] | None) -> str | None:
    return json.dumps(dict(facts)) if facts else None


def _append(store: Store, rows: list[dict[str, Any]], now: datetime) -> None:
    if rows:
        names = [name for name in _COLUMNS if name != DESPITE or any(row.get(name) for row in rows)]
        schema = pa.schema([(name, _COLUMNS[name][0]) for name in names])
        table = pa.Table.from_pylist([{**row, "recorded_at": now} for row in rows], schema)
        append(store, TABLE, table, write_reports, _TEXTS, "batch")


def read_reports(
    store: Store, columns: Sequence[str], step: str = "", span_us: tuple[int, int] | None = None
) -> pa.Table:
    """Some columns of the reports, the newest last.

    `columns`: `recorded_at` among them. `step`: of these reports alone. `span_us`: the starts of the first
    and the last batch of which there are to be reports.
    """
    snapshot = store.snapshot(TABLE)
    if snapshot.version < 0:
        return pa.schema([(name, _COLUMNS[name][0]) for name in columns]).empty_table()
    condition = pc.field("step") == step if step else None
    if span_us:
        low, high = map(from_us, span_us)
        snapshot = replace(snapshot, files=telling_of(snapshot.files, *span_us))
        within = (pc.field("batch") >= low) & (pc.field("batch") <= high)
        condition = within if condition is None else condition & within
    return read_files(store.root / TABLE, snapshot, columns, condition).sort_by("recorded_at")


def last_accumulated(
    store: Store, intervals: Sequence[Interval] | None = None
) -> dict[int, Mapping[str, Any]]:
    """Start of a batch -> its newest report of accumulate.

    With `intervals`, of batches from the first to the last of them alone.
    """
    if intervals is not None and not intervals:
        return {}
    starts = [each.start_us for each in intervals or ()]
    columns = ["batch", "recorded_at", "version", "source_changed", "files", "sources", *COUNTED]
    table = read_reports(store, columns, "accumulate", (min(starts), max(starts)) if starts else None)
    return dict(zip(table["batch"].cast(pa.int64()).to_pylist(), table.to_pylist(), strict=True))


def last_recorded_at(store: Store, step: str = "") -> datetime | None:
    """When a report of a step, or any, was last written; None if none was."""
    return pc.max(read_reports(store, ["recorded_at"], step)["recorded_at"]).as_py()  # type: ignore[no-any-return]


def newest_read(states: Iterable[AnyPath]) -> AnyPath | None:
    """The state, of some, that has read a batch last; None if none has."""
    from muntin.store.delta import DeltaStore

    read_at = ((last_recorded_at(DeltaStore(state), "accumulate"), state) for state in states)
    return max(((at, state) for at, state in read_at if at), default=(None, None))[1]


def utc_now() -> datetime:
    """The clock, asked here alone."""
    return datetime.now(UTC)


def now_us() -> int:
    """The clock, in microseconds since 1970."""
    return instant_us(utc_now(), "now")
