"""Announcements: publications that no run has reported yet, because a run ended between its commit and its report.

segments of a window's ledger     1   2   3   4
reported                          x   x             <state>/announced.json: {"day": {"table": ..., "number": 2}}
the next announcement                     x   x     the batches of segments 3 and 4

A publication is announced at least once. A segment that took the place of earlier segments reports their batches again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.jobs.published.ledger_segments import read_ledger
from muntin.jobs.published.window_tables import Published, published
from muntin.store.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.jobs.state.bound import Bound

NOTE = "announced.json"


@dataclass(frozen=True, slots=True)
class Announcement:
    """The announcement of a window.

    Attributes:
        starts: of the batches whose windows were published, ascending.
        table: the identity of the table.
        number: of the newest segment of its ledger.
    """

    starts: tuple[int, ...]
    table: str
    number: int


def begin(bound: Bound) -> None:
    """Note what is published of each window that was never announced, as it is no change. To be called before a publication.

    Raises:
        StateError: the disk refuses.
    """
    noted = _noted(bound)
    new = {window: _mark(published(bound.store, window)) for window in bound.windows if window not in noted}
    if new:
        _write(bound, {**noted, **new})


def unreported(bound: Bound, own: Mapping[str, Sequence[int]]) -> dict[str, Announcement]:
    """The announcements after a publication: window -> its batches, with the batches that earlier runs did not report.

    `own`: window -> starts of the batches that the run itself published.
    """
    noted, found = _noted(bound), {}
    for window in bound.windows:
        now = published(bound.store, window)
        reported = _reported(noted.get(window), now)
        starts = {*own.get(window, ())}
        if now.number > reported + (1 if starts else 0):  # more publications than the run's own
            starts |= _since(bound, now, reported)
        if starts:
            found[window] = Announcement(tuple(sorted(starts)), now.snapshot.identity, now.number)
    return found


def acknowledge(bound: Bound, reported: Mapping[str, Mapping[str, Any]]) -> None:
    """Note what was announced. `reported`: window -> `table` and `number` of its announcement.

    Raises:
        StateError: the disk refuses.
    """
    noted = _noted(bound)
    further = {window: dict(mark) for window, mark in reported.items() if _is_further(noted.get(window), mark)}
    if further:
        _write(bound, {**noted, **further})


def _is_further(noted: Mapping[str, Any] | None, mark: Mapping[str, Any]) -> bool:
    """Whether a position is behind the noted one: two runs may acknowledge in any order."""
    return noted is None or noted["table"] != mark["table"] or noted["number"] < mark["number"]


def _mark(now: Published) -> dict[str, Any]:
    return {"table": now.snapshot.identity, "number": now.number}


def _reported(noted: Mapping[str, Any] | None, now: Published) -> int:
    """The newest segment that was announced; 0 of a table that was made anew."""
    return int(noted["number"]) if noted and noted["table"] == now.snapshot.identity else 0


def _since(bound: Bound, now: Published, number: int) -> set[int]:
    """The batches in the segments after a number."""
    newer = tuple(segment.file.path for segment in now.segments if segment.number > number)
    ledger = read_ledger(bound.table(now.table), newer)
    return set(ledger.entries.start_us.tolist()) if ledger else set()


def _noted(bound: Bound) -> dict[str, Any]:
    """The note; {} where it is missing or damaged: windows published by then are not announced."""
    try:
        found = json.loads((bound.folder / NOTE).read_text(encoding="utf-8"))
        return {window: {"table": mark["table"], "number": int(mark["number"])} for window, mark in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write(bound: Bound, marks: Mapping[str, Any]) -> None:
    write_whole(bound.folder / NOTE, json.dumps(marks).encode())
