"""Retention: how long each kind of table keeps what is old."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.durations import Duration, positive
from muntin.definition.kinds import Unending
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from muntin.definition.kinds import Kind

TABLES = ("states", "windows", "quarantine", "reports")
Retain = Duration | Mapping[str, Duration] | None


@dataclass(frozen=True, slots=True)
class Retention:
    """How long rows of old batches are kept, in microseconds before the end of the newest batch; None: for ever."""

    states_us: int | None = None
    windows_us: int | None = None
    quarantine_us: int | None = None
    reports_us: int | None = None

    def __bool__(self) -> bool:
        """Whether anything goes."""
        return self != Retention()


def retention_of(asked: Retain) -> Retention:
    """The retention that a definition asks for: a duration for all tables, or one for some.

    >>> retention_of({"quarantine": "90d"}).quarantine_us
    7776000000000

    Raises:
        DefinitionError: no duration, or no table.
    """
    if asked is None:
        return Retention()
    if not isinstance(asked, Mapping):
        return Retention(*[positive(asked, "retain")] * len(TABLES))
    if unknown := [name for name in asked if name not in TABLES]:
        raise DefinitionError(f"retain: {unknown[0]!r} is no kind of table; choose from {', '.join(map(repr, TABLES))}")
    return Retention(**{f"{name}_us": positive(asked[name], f"retain[{name!r}]") for name in asked})


def check_retention(asked: Retain, windows: Mapping[str, Kind]) -> None:
    """Windows that never close are made of all states: these cannot go.

    Raises:
        DefinitionError: they would; or `retain` is none.
    """
    unending = [name for name, window in windows.items() if isinstance(window.follows, Unending)]
    if retention_of(asked).states_us is not None and unending:
        raise DefinitionError(
            f"retain: {unending[0]} never closes, so it needs the states of all batches; "
            'leave "states" out, as in retain={"quarantine": "90d", "reports": "400d"}, or give all_time a pipeline of its own'
        )
