"""The table of verdicts: a row for each expectation and validation, for people and for
any reader of Delta.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import from_us, label
from muntin.jobs.records.report_files import append
from muntin.states.columns import INSTANT
from muntin.store.parquet import write_named
from muntin.store.store import File, Texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from muntin.files.paths import AnyPath
    from muntin.store.store import Store

TABLE = "verdicts"
_COLUMNS = {
    "window": (pa.string(), "name of the window"),
    "recorded_at": (INSTANT, "when the windows were held against the suite, UTC"),
    "first_batch": (INSTANT, "start of the first batch whose windows were held against it, UTC"),
    "last_batch": (INSTANT, "start of the last of them, UTC"),
    "status": (
        pa.string(),
        "of all expectations together: passed, warning (published), failed (nothing was published)",
    ),
    "verdict": (pa.string(), "the status in words, with counts"),
    "expectation": (pa.string(), "type of the expectation"),
    "column": (pa.string(), "the column that it is about; null: the whole table"),
    "arguments": (pa.string(), "JSON: its arguments"),
    "severity": (pa.string(), "critical, warning or info"),
    "success": (pa.bool_(), "whether it was met; null: there were no rows, and it was not checked"),
    "observed_value": (pa.string(), "JSON: what was found, where the expectation is about one value"),
    "unexpected_count": (pa.int64(), "rows that are not as expected"),
    "unexpected_percent": (pa.float64(), "their share [%]"),
    "error": (pa.string(), "why it could not be checked; null: it could"),
    "rows": (pa.int64(), "windows that were held against the suite"),
}
_SCHEMA = pa.schema([(name, kind) for name, (kind, _) in _COLUMNS.items()])
_TEXTS = Texts(
    "verdicts",
    "What each suite found: a row for each expectation and validation",
    {name: text for name, (_, text) in _COLUMNS.items()},
)


def record_checks(
    store: Store, reports: Sequence[tuple[Mapping[str, Any], Sequence[int]]], now: datetime
) -> None:
    """Write down what suites found.

    `reports`: on each window, as `QualityReport.to_dict` gives it, and the starts of the batches that it is
    about, microseconds.
    """
    rows = [row for report, starts in reports for row in _rows(report, starts, now)]
    if rows:
        append(store, TABLE, pa.Table.from_pylist(rows, _SCHEMA), write_verdicts, _TEXTS, "recorded_at")


def _rows(report: Mapping[str, Any], starts: Sequence[int], now: datetime) -> Iterator[dict[str, Any]]:
    first, last = (from_us(min(starts)), from_us(max(starts))) if starts else (None, None)
    about = {name: report[name] for name in ("window", "status", "verdict", "rows")}
    for check in report["checks"]:
        facts = {
            name: check[name]
            for name in ("column", "severity", "success", "unexpected_count", "unexpected_percent", "error")
        }
        observed = check["observed_value"]
        yield {
            **about,
            **facts,
            "recorded_at": now,
            "first_batch": first,
            "last_batch": last,
            "expectation": check["type"],
            "arguments": json.dumps(check["kwargs"]),
            "observed_value": None if observed is None else json.dumps(observed),
        }


def batches_of(table: pa.Table) -> pa.ChunkedArray:
    """The time that each row is about: the start of its last batch, microseconds; without batches, when it
    was recorded.
    """
    return pc.coalesce(table["last_batch"], table["recorded_at"]).cast(pa.int64())


def write_verdicts(table: pa.Table, folder: AnyPath) -> File:
    """Write verdicts to a new file, whose name says of which batches they are."""
    ends = pc.min_max(batches_of(table)).as_py()
    low, high = label(ends["min"]), label(ends["max"])
    return File(**write_named(table, folder, lambda digest: f"{low}_{high}_{digest}.parquet"))
