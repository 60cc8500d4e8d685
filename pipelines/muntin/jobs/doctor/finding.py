"""A finding: a place, what is wrong there, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath


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
        files: damaged files, which a repair takes out of the way.
        notes: window -> the paths of the files of its lost or damaged notes.
    """

    states: tuple[int, ...]
    windows: dict[str, tuple[int, ...]]
    files: tuple[AnyPath, ...]
    notes: dict[str, tuple[tuple[str, ...], ...]]
