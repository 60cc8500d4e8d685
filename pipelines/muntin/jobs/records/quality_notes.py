"""The last verdicts on a window, in a file beside its state: the page reports them after the run is over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from muntin.store.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from muntin.files.paths import AnyPath
    from muntin.jobs.records.approvals import Approval

FOLDER = "quality"
KEPT = 20
"""So many verdicts on each window are kept."""


def note_verdict(state: AnyPath, report: Mapping[str, Any], starts: Sequence[int], now: datetime) -> None:
    """Put a report, as `QualityReport.to_dict` gives it, before the kept reports. Of two writers at once the last one counts.

    Args:
        state: the folder of the state.
        report: on one window.
        starts: of the batches whose windows were held against the suite, microseconds.
        now: when that was.

    Raises:
        StateError: the disk refuses.
    """
    told = {"recorded_at": now.isoformat(), "batches": [min(starts), max(starts)] if starts else None, **report}
    kept = [told, *last_verdicts(state, report["window"])][:KEPT]
    write_whole(_file(state, report["window"]), (json.dumps(kept) + "\n").encode())


def note_despite(state: AnyPath, windows: Iterable[str], approval: Approval) -> None:
    """Note beside verdicts that a person let the windows be published all the same.

    Raises:
        StateError: the disk refuses.
    """
    said = {"by": approval.by, "reason": approval.reason}
    for window in windows:
        kept = [{**each, "despite": said} if each.get("name") == approval.verdict else each for each in last_verdicts(state, window)]
        write_whole(_file(state, window), (json.dumps(kept) + "\n").encode())


def last_verdicts(state: AnyPath, window: str) -> list[dict[str, Any]]:
    """The verdicts on a window, the newest first.

    Each has the parts of a report, `recorded_at` (ISO) and `batches`, the first and the last start. Where the window failed, it has `name`,
    of the verdict on all windows of the run, and `despite`, who let them be published and why, if somebody did.
    """
    try:
        found = json.loads(_file(state, window).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [each for each in found if isinstance(each, dict)]


def _file(state: AnyPath, window: str) -> AnyPath:
    return state / FOLDER / f"{window}.json"
