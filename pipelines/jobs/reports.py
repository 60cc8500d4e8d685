"""Reports: what each step did with each batch, for people and in a table of their own."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from pipelines.definition.instants import from_us
from pipelines.errors import ConflictError
from pipelines.states.columns import INSTANT
from pipelines.store.parquet import write_named
from pipelines.store.store import Change, File

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.jobs.run.accumulate import Accumulated
    from pipelines.store.store import Store

TABLE = "reports"
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
    ]
)


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What became of one batch.

    Attributes:
        interval_start, interval_end: its data interval.
        rows_read: rows in its files.
        rows_accepted: rows that entered states: neither refused nor left out by the filter.
        rows_quarantined: rows refused, each in the quarantine with its reason.
        rows_late: accepted rows that came too late for at least one window.
        windows_closed: window -> how many of them this batch closed; empty while it waits for missing intervals.
        watermark: how far time is known after it; None while it waits, or before any event.
        windows_missed: window -> how many of them its rows came too late for, summed over rows.
        source_changed: whether its files or their content are others than at the last run.
    """

    interval_start: datetime
    interval_end: datetime
    rows_read: int
    rows_accepted: int
    rows_quarantined: int
    rows_late: int = 0
    windows_closed: Mapping[str, int] = field(default_factory=dict)
    watermark: datetime | None = None
    windows_missed: Mapping[str, int] = field(default_factory=dict)
    source_changed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: instants as ISO text."""
        return {name: _plain(getattr(self, name)) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did.

    Attributes:
        batches: one report each, in order.
        waiting_for: the missing intervals, as (start, end), that keep accumulated batches from being finalised.
        published: window -> starts of the batches whose windows were derived anew and published by this run.
        quality: the outcome of each window's expectations, as dicts.
        left_behind: batches that an earlier definition's state has and this one's lacks: `muntin rebuild` reads them.
    """

    batches: tuple[BatchReport, ...]
    waiting_for: tuple[tuple[datetime, datetime], ...] = ()
    published: Mapping[str, tuple[datetime, ...]] = field(default_factory=dict)
    quality: tuple[Mapping[str, Any], ...] = ()
    left_behind: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: instants as ISO text."""
        return {name: _plain(getattr(self, name)) for name in self.__slots__}


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a report holds
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, BatchReport):
        return value.to_dict()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def record_accumulated(store: Store, done: Sequence[Accumulated], now: datetime) -> dict[int, bool]:
    """Write down what was read; return for each batch whether its source is another one than the last time."""
    last = last_accumulated(store)
    changed = {one.interval.start_us: _differs(last.get(one.interval.start_us), one) for one in done}
    rows = [
        {
            "batch": from_us(one.interval.start_us),
            "step": "accumulate",
            "version": one.version,
            "rows_read": one.read,
            "rows_accepted": one.taken,
            "rows_quarantined": one.refused,
            "source_changed": changed[one.interval.start_us],
            "files": json.dumps([list(file) for file in one.manifest]),
        }
        for one in done
    ]
    _append(store, rows, now)
    return changed


def _differs(before: Mapping[str, Any] | None, now: Accumulated) -> bool:
    return before is not None and (before["version"] != now.version or json.loads(before["files"]) != [list(file) for file in now.manifest])


def record_published(store: Store, batches: Sequence[BatchReport], now: datetime) -> None:
    """Write down what became of batches."""
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
                "windows_closed": json.dumps(dict(one.windows_closed)),
                "watermark": one.watermark,
            }
            for one in batches
        ],
        now,
    )


def _append(store: Store, rows: list[dict[str, Any]], now: datetime) -> None:
    if not rows:
        return
    table = pa.Table.from_pylist([{**row, "recorded_at": now} for row in rows], _SCHEMA)
    written = write_named(table, f"{store.root}/{TABLE}", lambda digest: f"{digest}.parquet")
    new = File(written["path"], written["size"], written["rows"])
    for _ in range(20):
        base = store.snapshot(TABLE)
        if any(file.path == new.path for file in base.files):
            return
        with suppress(ConflictError):
            store.commit(TABLE, base, Change(_SCHEMA, [new], [], []))
            return


def last_accumulated(store: Store) -> dict[int, Mapping[str, Any]]:
    """Start of a batch -> its newest report of accumulate."""
    if store.snapshot(TABLE).version < 0:
        return {}
    everything = DeltaTable(f"{store.root}/{TABLE}").to_pyarrow_table()  # a filter in there loses rows of columns without statistics
    table = everything.filter(pc.equal(everything["step"], "accumulate")).sort_by("recorded_at")
    starts = table["batch"].cast(pa.int64()).to_pylist()
    return dict(zip(starts, table.to_pylist(), strict=True))


def utc_now() -> datetime:
    """The clock, asked here alone."""
    return datetime.now(UTC)
