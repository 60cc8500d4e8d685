"""Verdicts: how the windows of a run did against their suites.

The verdict on staged files is in a file beside them; the last verdicts on a window are in a file of the
state, for the page.

The table of verdicts: a row for each expectation and validation, for people and for
any reader of Delta.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import from_us, label
from muntin.files.paths import AnyPath
from muntin.jobs.published.staged_windows import Staged, StagedWindow
from muntin.jobs.records.approvals import Approval, Verdicts, check_publishable
from muntin.jobs.records.report_files import append
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.notes import change_note, read_note
from muntin.states.columns import INSTANT
from muntin.store.disk import write_whole
from muntin.store.parquet import write_named
from muntin.store.store import File, Store, Texts

FOLDER = "quality"
KEPT = 20
"""So many verdicts on each window are kept."""
VERDICTS_FILE = "verdicts.json"


def record_verdicts(bound: Bound, staged: Staged, reports: Mapping[str, Mapping[str, Any]]) -> Verdicts:
    """Write down the verdicts on the staged files, and return them.

    `reports`: window -> report, as `QualityReport.to_dict` gives it, for the windows with a suite.
    """
    verdicts = {
        window.window: {"files": _files(window), "report": reports[window.window]}
        for window in staged.windows
        if window.window in reports
    }
    write_whole(bound.folder / staged.folder / VERDICTS_FILE, json.dumps(verdicts).encode())
    return verdicts


def check_judged(bound: Bound, staged: Staged, approval: Approval | None = None) -> None:
    """Check that every staged window with a suite has a verdict on exactly the staged files, and passed,
    unless a person approved.
    """
    files = {window.window: _files(window) for window in staged.windows}
    check_publishable(files, bound.pipeline.guarded, recorded_verdicts(bound, staged.folder), approval)


def recorded_verdicts(bound: Bound, folder: str) -> Verdicts:
    """The verdicts on the files of a staged folder.

    Nothing where none were written down, or the file is damaged: then nothing is published before it is
    validated again.
    """
    try:
        verdicts: Verdicts = json.loads((bound.folder / folder / VERDICTS_FILE).read_text(encoding="utf-8"))
        return (
            verdicts
            if all(isinstance(each["files"], list) and each["report"]["status"] for each in verdicts.values())
            else {}
        )
    except (FileNotFoundError, ValueError, AttributeError, KeyError, TypeError):
        return {}


def _files(window: StagedWindow) -> Sequence[str]:
    """The paths of the files. A path names the content of its file."""
    return sorted(file["path"] for file in window.files)


def note_verdict(state: AnyPath, report: Mapping[str, Any], starts: Sequence[int], now: datetime) -> None:
    """Put a report, as `QualityReport.to_dict` gives it, before the kept reports, in place of one that says
    the same.

    `starts`: of the batches whose windows were held against the suite, microseconds.
    """
    entry = {
        "recorded_at": now.isoformat(),
        "batches": [min(starts), max(starts)] if starts else None,
        **report,
    }

    def with_it(note: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
        reports = {_says(each): each for each in reversed(_verdicts(note))}
        same = reports.pop(_says(entry), {})
        approved = {"despite": same["despite"]} if "despite" in same else {}
        return [{**entry, **approved}, *reversed(reports.values())][:KEPT]

    change_note(_file(state, report["window"]), with_it)


def _says(entry: Mapping[str, Any]) -> str:
    """The content of a verdict, without names of staged files, which differ in each run."""
    said = {name: each for name, each in entry.items() if name not in ("recorded_at", "despite", "files")}
    return json.dumps(said, sort_keys=True)


def note_despite(state: AnyPath, windows: Iterable[str], approval: Approval) -> None:
    """Note beside verdicts that a person let the windows be published all the same."""
    said = {"despite": {"by": approval.by, "reason": approval.reason}}
    for window in windows:
        change_note(
            _file(state, window),
            lambda note: [
                each | (said if each.get("name") == approval.verdict else {}) for each in _verdicts(note)
            ],
        )


def last_verdicts(state: AnyPath, window: str) -> list[dict[str, Any]]:
    """The verdicts on a window, the newest first.

    Each has the parts of a report, `recorded_at` (ISO) and `batches`, the first and the last start. Where the
    window failed, it has `name`, of the verdict on all windows of the run, and `despite`, who let them be
    published and why, if a person did.
    """
    return _verdicts(read_note(_file(state, window)))


def _verdicts(note: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    return [each for each in note or () if isinstance(each, dict)]


def _file(state: AnyPath, window: str) -> AnyPath:
    return state / FOLDER / f"{window}.json"


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
