"""Announcements: what runs publish is taken by one run each, which announces it, and is open until that run
says that it has.

segments of a window's ledger     1   2   3   4   5
a run takes                       x   x                 announced.json: {"day": {"number": 2, "open": {}}}
the next run takes                        x   x         {"number": 4, "open": {"9f3a...": {"starts": ...}}},
{} once it has announced a run after it                                    x     and what is open of runs that
have ended without a word

So each publication is announced once, and again only where a run ended between its commit and its word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np

from muntin.errors import StateError
from muntin.jobs.published.ledger_segments import read_ledger
from muntin.jobs.published.window_tables import Published, published
from muntin.jobs.records.reports_table import now_us
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.notes import change_note
from muntin.timeline.ledger import no_entries

KeysOf = Callable[[str, Sequence[int], Sequence[int]], Sequence[int]]
Note = dict[str, Any]


NOTE = "announced.json"
_NEW: Note = {"table": "", "number": 0, "segments": [], "left": [], "open": {}}


@dataclass(frozen=True, slots=True)
class Announcer:
    """A run that announces.

    Attributes:
        run: its name; None of a run that cannot be asked about: the next run announces again what it left
            open.
        is_going: name of another run, and how long ago it took its part, in microseconds -> whether it will
            still announce that.
    """

    run: str | None = None
    is_going: Callable[[str, int], bool] = lambda _run, _age_us: False


@dataclass(frozen=True, slots=True)
class Announcement:
    """The announcement of a window.

    Attributes:
        starts: of the batches whose windows were published, ascending.
        keys: partition keys, ascending, in microseconds.
        left: how many keys are left for the runs after this.
        name: to acknowledge it by.
    """

    starts: tuple[int, ...]
    keys: tuple[int, ...]
    left: int
    name: str


def begin(bound: Bound) -> None:
    """Note what is published of each window that was never announced, as it is no change.

    To be called before a publication.
    """

    def noted(content: Any) -> Note | None:  # noqa: ANN401 - JSON
        note = _valid(content)
        new = {
            window: _NEW | _mark(published(bound.store, window))
            for window in bound.windows
            if window not in note
        }
        return {**new, **note} if new else None

    change_note(bound.folder / NOTE, noted)


def announce(
    bound: Bound, announcer: Announcer, keys_of: KeysOf | None = None, most: int = 0
) -> dict[str, Announcement]:
    """Take what was published and no run has taken, and what runs have left open that have ended: window ->
    its announcement.

    `keys_of`: window, starts of batches, and the starts among them that were published before, too ->
    partition keys; None: no keys. `most`: so many keys at most, the newest of each window; the rest is left
    for the runs after this.
    """
    announcements: dict[str, Announcement] = {}
    name, at_us = uuid4().hex, now_us()

    def is_over(part: Mapping[str, Any]) -> bool:
        run = part["run"]
        return run is None or run == announcer.run or not announcer.is_going(run, at_us - part["at"])

    def noted(content: Any) -> Note:  # noqa: ANN401 - JSON
        note = _valid(content)
        parts = {
            window: _part(bound, window, note.get(window, _NEW), is_over, keys_of) for window in bound.windows
        }
        announcements.clear()
        room, waiting = most, sum(bool(starts or keys) for _, starts, keys in parts.values())
        for window, (rest, starts, keys) in sorted(parts.items(), key=lambda part: len(part[1][2])):
            share = max(room // max(waiting, 1), 1)
            note[window] = rest | {"left": keys[:-share]}
            if starts or keys:
                announcements[window] = Announcement(
                    tuple(starts), tuple(keys[-share:]), len(keys[:-share]), name
                )
                part = {"run": announcer.run, "at": at_us, "starts": starts, "keys": keys[-share:]}
                note[window]["open"] = rest["open"] | {name: part}
                room, waiting = room - len(keys[-share:]), waiting - 1
        return note

    change_note(bound.folder / NOTE, noted)
    return announcements


def acknowledge(bound: Bound, names: Mapping[str, str]) -> None:
    """Note that announcements were made. `names`: window -> the name of its announcement."""

    def noted(content: Any) -> Note:  # noqa: ANN401 - JSON
        note = _valid(content)
        for window in note.keys() & names.keys():
            note[window]["open"].pop(names[window], None)
        return note

    if names:
        change_note(bound.folder / NOTE, noted)


def _part(
    bound: Bound,
    window: str,
    mark: Note,
    is_over: Callable[[Mapping[str, Any]], bool],
    keys_of: KeysOf | None,
) -> tuple[Note, list[int], list[int]]:
    """The note of a window without what a run takes of it: the starts of batches, and the keys."""
    now = published(bound.store, window)
    new, again = _published_since(bound, now, mark)
    over = {name: part for name, part in mark["open"].items() if is_over(part)}
    starts = {*new, *(start for part in over.values() for start in part["starts"])}
    keys = {*mark["left"], *(key for part in over.values() for key in part["keys"])}
    if keys_of and new:
        keys |= {*keys_of(window, new, again)}
    still = {name: part for name, part in mark["open"].items() if name not in over}
    return _NEW | _mark(now) | {"open": still}, sorted(starts), sorted(keys) if keys_of else []


def _published_since(bound: Bound, now: Published, mark: Note) -> tuple[list[int], list[int]]:
    """The batches whose windows changed since a mark; and the batches among them that had windows before."""
    seen = mark["number"] if mark["table"] == now.snapshot.identity else 0
    folder = bound.table(now.table)
    newer = read_ledger(folder, tuple(each.file.path for each in now.segments if each.number > seen))
    if newer is None:
        return [], []
    entries, older = newer.entries, tuple(each.file.path for each in now.segments if each.number <= seen)
    try:  # segments that have become one with later segments lie there still
        before = read_ledger(folder, tuple(mark["segments"]) or older) if seen else None
    except StateError:
        return entries.start_us.tolist(), entries.start_us.tolist()
    entries_before = before.entries if before else no_entries()
    at = entries_before.position(entries.start_us)
    new = (at < 0) | (np.append(entries_before.made, np.uint64(0))[at] != entries.made)
    return entries.start_us[new].tolist(), entries.start_us[new & (at >= 0)].tolist()


def _mark(now: Published) -> Note:
    return {
        "table": now.snapshot.identity,
        "number": now.number,
        "segments": [each.file.path for each in now.segments],
    }


def _valid(content: Any) -> Note:  # noqa: ANN401 - JSON
    """The note; {} where it is missing or damaged: windows published by then are not announced."""
    try:
        return {
            window: _NEW | {**mark, "number": int(mark["number"]), "open": _parts(mark)}
            for window, mark in content.items()
            if mark["table"] is not None
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}


def _parts(mark: Note) -> Note:
    names = ("run", "at", "starts", "keys")
    return {name: {each: part[each] for each in names} for name, part in mark.get("open", {}).items()}
