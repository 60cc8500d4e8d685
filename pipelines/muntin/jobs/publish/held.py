"""Held windows: staged, and not published since a suite failed.

A person may publish them by the name of the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from muntin.definition.schedule import Interval
from muntin.errors import ConflictError
from muntin.jobs.publish.publish import is_stale
from muntin.jobs.published.pending import accumulated
from muntin.jobs.published.staged_windows import Staged, StagedWindow, entries_of, load_staged
from muntin.jobs.records.approvals import failed_windows, verdict_name
from muntin.jobs.records.verdicts import VERDICTS_FILE, recorded_verdicts
from muntin.jobs.state.bound import Bound
from muntin.states.frames import is_among


@dataclass(frozen=True, slots=True)
class HeldWindows:
    """The windows of a run that a suite holds.

    Attributes:
        name: of the verdict, which an approval names.
        over: from the start of the first batch to the end of the last.
        staged: what was staged together.
        reports: window -> report, of the windows that failed, as `QualityReport.to_dict` gives it.
    """

    name: str
    over: Interval
    staged: Staged
    reports: Mapping[str, Mapping[str, Any]]

    @property
    def starts(self) -> list[int]:
        """Starts of the batches whose windows are staged, ascending."""
        return _starts(self.staged)


def held_windows(bound: Bound) -> list[HeldWindows]:
    """The staged windows that suites hold, and that may be published as it is, by name, each name once."""
    return sorted(
        {each.name: each for each in _held(bound)}.values(), key=lambda each: (each.starts, each.name)
    )


def held_in(bound: Bound, folder: str) -> HeldWindows | None:
    """The windows that a suite holds in a staged folder; None where that is nothing that may be published.

    So it is where no window failed, another run has published since, batches were read again, or the
    definition is another by now.
    """
    try:
        staged = load_staged(bound.store, folder)
    except ConflictError:
        return None
    verdicts = recorded_verdicts(bound, folder)
    if (
        (name := verdict_name(verdicts)) is None
        or not all(
            window.window in bound.windows and window.definition == bound.derivation(window.window)
            for window in staged.windows
        )
        or is_stale(bound.store, staged)
        or is_outdated(bound, staged)
    ):
        return None
    over = bound.pipeline.intervals.over(_starts(staged))
    return HeldWindows(name, over, staged, failed_windows(verdicts))


def _starts(staged: Staged) -> list[int]:
    return sorted({start for window in staged.windows for start in window.starts})


def _held(bound: Bound) -> Iterator[HeldWindows]:
    for path in bound.folder.glob(f"staging/*/{VERDICTS_FILE}"):
        if windows := held_in(bound, f"{path.parent.parent.name}/{path.parent.name}"):
            yield windows


def is_outdated(bound: Bound, staged: Staged) -> bool:
    """Whether a batch was read again as something else since its windows were staged: what it was before
    should not be published.
    """
    return any(_is_outdated(bound, window) for window in staged.windows)


def _is_outdated(bound: Bound, window: StagedWindow) -> bool:
    table, entries = bound.frames_of(window.window).table, entries_of(window)
    entries = entries.take(is_among(entries.start_us, np.array(window.starts, np.int64)))
    there = accumulated(bound, table)
    at = there.position(entries.start_us)
    return bool((at < 0).any() or (there.version[at] != entries.version).any())


def unknown(name: str, held: Sequence[HeldWindows]) -> str:
    """The text for a verdict that holds nothing."""
    names = ", ".join(each.name for each in held)
    what = f"held now: {names}; see what they say by muntin publish FILE" if held else "nothing is held now"
    return (
        f"nothing is held by the verdict {name!r}: its windows were published, or derived anew, or maintain"
        f" removed them; {what}"
    )
