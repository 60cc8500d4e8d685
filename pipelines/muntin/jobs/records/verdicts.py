"""Verdicts: how the staged files of a window did against its suite. They are kept in a file beside the staged files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from muntin.errors import ConflictError, ExpectationsError
from muntin.store.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.jobs.published.staged_windows import Staged, StagedWindow
    from muntin.jobs.state.bound import Bound

VERDICTS_FILE = "verdicts.json"


def record_verdicts(bound: Bound, staged: Staged, statuses: Mapping[str, str]) -> None:
    """Write down the verdicts on the staged files. `statuses`: window -> passed, warning or failed, for the windows with a suite."""
    verdicts = {
        window.window: {"files": _files(window), "status": statuses[window.window]}
        for window in staged.windows
        if window.window in statuses
    }
    write_whole(bound.folder / staged.folder / VERDICTS_FILE, json.dumps(verdicts).encode())


def check_judged(bound: Bound, staged: Staged) -> None:
    """Check that every staged window with a suite has a verdict on exactly the staged files, and did not fail.

    Raises:
        ConflictError: a window has no verdict, or one on other files: finalize and validate again.
        ExpectationsError: a window failed.
    """
    verdicts = _recorded(bound, staged.folder)
    for window in staged.windows:
        if window.window not in bound.pipeline.expectations:
            continue
        verdict = verdicts.get(window.window)
        if verdict is None or verdict["files"] != _files(window):
            raise ConflictError(f"windows/{window.window}: the staged files were not validated; finalize and validate again")
        if verdict["status"] == "failed":
            raise ExpectationsError(f"windows/{window.window}: a critical expectation failed on the staged files; nothing was published")


def _recorded(bound: Bound, folder: str) -> Mapping[str, Any]:
    try:
        return json.loads((bound.folder / folder / VERDICTS_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def _files(window: StagedWindow) -> Sequence[str]:
    """The paths of the files. A path names the content of its file."""
    return sorted(file["path"] for file in window.files)
