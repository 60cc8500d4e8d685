"""Verdicts: how the windows of a run did against their suites.

The verdict on staged files is in a file beside them; the last verdicts on a window are in a file of the
state, for the page.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from muntin.jobs.records.approvals import check_publishable
from muntin.jobs.state.notes import change_note, read_note
from muntin.store.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from muntin.files.paths import AnyPath
    from muntin.jobs.published.staged_windows import Staged, StagedWindow
    from muntin.jobs.records.approvals import Approval, Verdicts
    from muntin.jobs.state.bound import Bound

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
    check_publishable(files, bound.pipeline.expectations, recorded_verdicts(bound, staged.folder), approval)


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
    """Put a report, as `QualityReport.to_dict` gives it, before the kept reports.

    `starts`: of the batches whose windows were held against the suite, microseconds.
    """
    entry = {
        "recorded_at": now.isoformat(),
        "batches": [min(starts), max(starts)] if starts else None,
        **report,
    }
    change_note(_file(state, report["window"]), lambda note: [entry, *_verdicts(note)][:KEPT])


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
