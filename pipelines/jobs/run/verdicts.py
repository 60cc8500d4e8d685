"""Verdicts: which staged files were held against their suite, and how that ended. They lie beside the staged files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import ConflictError, ExpectationsError
from pipelines.store.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.jobs.bound import Bound
    from pipelines.jobs.staged_windows import Staged, StagedWindow

NAME = "verdicts.json"


def record_verdicts(bound: Bound, staged: Staged, statuses: Mapping[str, str]) -> None:
    """Write down how the staged files of some windows were judged; `statuses`: window -> passed, warning or failed."""
    found = {each.window: {"files": _files(each), "status": statuses[each.window]} for each in staged.windows if each.window in statuses}
    write_whole(Path(bound.folder, staged.folder, NAME), json.dumps(found).encode())


def check_judged(bound: Bound, staged: Staged) -> None:
    """See that every staged window with a suite was judged on exactly the files that are staged, and did not fail.

    Raises:
        ConflictError: a window was not judged, or other files of it were: finalize and validate again.
        ExpectationsError: a window failed.
    """
    found = _recorded(bound, staged.folder)
    for window in staged.windows:
        if window.window not in bound.pipeline.expectations:
            continue
        verdict = found.get(window.window)
        if verdict is None or verdict["files"] != _files(window):
            raise ConflictError(f"windows/{window.window}: the staged files were not validated; finalize and validate again")
        if verdict["status"] == "failed":
            raise ExpectationsError(f"windows/{window.window}: a critical expectation failed on the staged files; nothing was published")


def _recorded(bound: Bound, folder: str) -> Mapping[str, Any]:
    try:
        return json.loads(Path(bound.folder, folder, NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def _files(window: StagedWindow) -> Sequence[str]:
    """A path names its content."""
    return sorted(file["path"] for file in window.files)
