"""A finding: a place, what is wrong there, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muntin.jobs.doctor.bad_files import Bad
    from muntin.jobs.published.lost_commits import LostCommits


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong.

    Attributes:
        place: a path.
        problem: what is wrong with it.
        mend: what to do.
    """

    place: str
    problem: str
    mend: str


@dataclass(frozen=True, slots=True)
class Damage:
    """The lost or damaged parts of a state, for a repair.

    Attributes:
        states: starts of batches whose states or refused rows are lost, microseconds.
        windows: window -> starts of batches whose published windows are lost.
        bad: table -> its lost or damaged files, which a repair takes out of the way, each with what is wrong.
        notes: window -> the paths of the files of its lost or damaged notes.
        behind: tables that have lost commits.
        unpublished: window -> starts of batches that reports call published, and whose windows are not there.
    """

    states: tuple[int, ...]
    windows: dict[str, tuple[int, ...]]
    bad: Bad
    notes: dict[str, tuple[tuple[str, ...], ...]]
    behind: tuple[LostCommits, ...] = ()
    unpublished: dict[str, tuple[int, ...]] = field(default_factory=dict)
