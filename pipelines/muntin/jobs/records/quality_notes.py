"""The last verdicts on a window, in a file beside its state: the page reports them after the run is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.jobs.state.notes import change_note, read_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from muntin.files.paths import AnyPath
    from muntin.jobs.records.approvals import Approval

FOLDER = "quality"
KEPT = 20
"""So many verdicts on each window are kept."""


def note_verdict(state: AnyPath, report: Mapping[str, Any], starts: Sequence[int], now: datetime) -> None:
    """Put a report, as `QualityReport.to_dict` gives it, before the kept reports.

    Args:
        state: the folder of the state.
        report: on one window.
        starts: of the batches whose windows were held against the suite, microseconds.
        now: when that was.

    Raises:
        StateError: the disk refuses.
    """
    entry = {"recorded_at": now.isoformat(), "batches": [min(starts), max(starts)] if starts else None, **report}
    change_note(_file(state, report["window"]), lambda note: [entry, *_verdicts(note)][:KEPT])


def note_despite(state: AnyPath, windows: Iterable[str], approval: Approval) -> None:
    """Note beside verdicts that a person let the windows be published all the same.

    Raises:
        StateError: the disk refuses.
    """
    said = {"despite": {"by": approval.by, "reason": approval.reason}}
    for window in windows:
        change_note(
            _file(state, window),
            lambda note: [each | (said if each.get("name") == approval.verdict else {}) for each in _verdicts(note)],
        )


def last_verdicts(state: AnyPath, window: str) -> list[dict[str, Any]]:
    """The verdicts on a window, the newest first.

    Each has the parts of a report, `recorded_at` (ISO) and `batches`, the first and the last start. Where the window failed, it has `name`,
    of the verdict on all windows of the run, and `despite`, who let them be published and why, if a person did.
    """
    return _verdicts(read_note(_file(state, window)))


def _verdicts(note: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    return [each for each in note or () if isinstance(each, dict)]


def _file(state: AnyPath, window: str) -> AnyPath:
    return state / FOLDER / f"{window}.json"
