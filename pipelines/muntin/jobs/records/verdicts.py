"""Verdicts: how the staged files of a window did against its suite. They are kept in a file beside the staged files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from muntin.jobs.records.approvals import check_publishable
from muntin.store.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from muntin.jobs.published.staged_windows import Staged, StagedWindow
    from muntin.jobs.records.approvals import Approval, Verdicts
    from muntin.jobs.state.bound import Bound

VERDICTS_FILE = "verdicts.json"


def record_verdicts(bound: Bound, staged: Staged, reports: Mapping[str, Mapping[str, Any]]) -> Verdicts:
    """Write down the verdicts on the staged files, and return them.

    `reports`: window -> report, as `QualityReport.to_dict` gives it, for the windows with a suite.
    """
    verdicts = {
        window.window: {"files": _files(window), "report": reports[window.window]} for window in staged.windows if window.window in reports
    }
    write_whole(bound.folder / staged.folder / VERDICTS_FILE, json.dumps(verdicts).encode())
    return verdicts


def check_judged(bound: Bound, staged: Staged, approval: Approval | None = None) -> None:
    """Check that every staged window with a suite has a verdict on exactly the staged files, and did not fail, or a person approved that.

    Raises:
        ConflictError: a window has no verdict, or a verdict on other files: finalize and validate again.
        ExpectationsError: a window failed, and no person approved this verdict.
    """
    files = {window.window: _files(window) for window in staged.windows}
    check_publishable(files, bound.pipeline.expectations, recorded_verdicts(bound, staged.folder), approval)


def recorded_verdicts(bound: Bound, folder: str) -> Verdicts:
    """The verdicts on the files of a staged folder.

    Nothing where none were written down, or the file is damaged: then nothing is published before it is validated again.
    """
    try:
        verdicts: Verdicts = json.loads((bound.folder / folder / VERDICTS_FILE).read_text(encoding="utf-8"))
        return verdicts if all(isinstance(each["files"], list) and each["report"]["status"] for each in verdicts.values()) else {}
    except (FileNotFoundError, ValueError, AttributeError, KeyError, TypeError):
        return {}


def _files(window: StagedWindow) -> Sequence[str]:
    """The paths of the files. A path names the content of its file."""
    return sorted(file["path"] for file in window.files)
