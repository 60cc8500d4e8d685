"""Retention: how long each kind of table keeps what is old."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import Duration, positive, spell
from muntin.definition.kinds import Bounded, Unending
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from muntin.definition.kinds import Kind
    from muntin.definition.schedule import Schedule

TABLES = ("states", "windows", "quarantine", "reports")
_AHEAD = (13, 1000)
"""So many sizes of a window are looked at: a year of months; and more where the next window lies far away, as an hour of each month."""
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


def check_retention(asked: Retain, windows: Mapping[str, Kind], schedule: Schedule, changes_us: int = 0) -> None:
    """Refuse to keep less than a batch, or less than a window; windows that never close are made of all states.

    `changes_us`: how long after their batch its rows may still change, microseconds.

    Raises:
        DefinitionError: less would be kept; or `retain` is none.
    """
    states_us = retention_of(asked).states_us
    if states_us is not None and states_us < changes_us:
        raise DefinitionError(
            f"retain: states of {spell(states_us)} would be gone while their rows may still change, within {spell(changes_us)} as "
            "changes_within says; keep states at least so long, or let rows change for a shorter time"
        )
    if asked is not None:
        _check_long_enough(retention_of(asked), windows, schedule)
    unending = [name for name, window in windows.items() if isinstance(window.follows, Unending)]
    if retention_of(asked).states_us is not None and unending:
        raise DefinitionError(
            f"retain: {unending[0]} never closes, so it needs the states of all batches; "
            'leave "states" out, as in retain={"quarantine": "90d", "reports": "400d"}, or give all_time a pipeline of its own'
        )


def _check_long_enough(kept: Retention, windows: Mapping[str, Kind], schedule: Schedule) -> None:
    batch = schedule.around(schedule.first_border_us)
    spans = {name: us for name in TABLES if (us := getattr(kept, f"{name}_us")) is not None}
    least = dict.fromkeys(spans, (batch.end_us - batch.start_us, "a batch takes"))
    if "windows" in least:
        each = {name: apart_us(window, schedule.first_us) for name, window in windows.items()}
        apart = [(us, f"the next window of {name!r} can take") for name, us in each.items() if us]
        least["windows"] = max(least["windows"], *apart) if apart else least["windows"]
    for name, us in spans.items():
        least_us, what = least[name]
        if us < least_us:
            raise DefinitionError(
                f"retain: {name} of {spell(us)} would be gone before the next come, since {what} {spell(least_us)}; "
                f'give a longer time, as retain={{"{name}": "{spell(10 * least_us)}"}}, or leave {name} out: they then stay for ever'
            )


def apart_us(window: Kind, at_us: int) -> int:
    """How far the ends of two neighbouring windows lie apart at most, where no two overlap or they come at even steps; else 0."""
    if window.even:
        return window.even.step_us
    spans = window.windows_for(at_us) if window.grid and isinstance(window.follows, Bounded) else []
    return _widest(window.grid, *spans[0]) if window.grid and len(spans) == 1 else 0


def _widest(grid: Callable[[int, int], tuple[Any, Any]], start_us: int, end_us: int) -> int:
    """The greatest distance of two ends of a grid, from a window on: months are of several lengths, and holes may part windows."""
    size_us = end_us - start_us
    for windows in _AHEAD:
        ends = [int(end) for end in grid(start_us, start_us + windows * size_us)[1]]
        if len(ends) > 1:
            return max(behind - before for before, behind in pairwise(ends))
    return size_us
