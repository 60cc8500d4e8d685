"""Times that a definition sets: how long rows stay, how fresh windows are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from muntin.definition.durations import spell
from muntin.definition.groups import TABLES, Retain
from muntin.definition.kinds import Bounded, Kind, Unending
from muntin.definition.schedule import Schedule
from muntin.errors import DefinitionError

_AHEAD = (13, 1000)
"""So many sizes of a window are looked at: a year of months; more where the next window lies far away."""


def check_retention(
    retain: Retain, windows: Mapping[str, Kind], schedule: Schedule, changes_us: int = 0
) -> None:
    """Refuse to keep less than a batch, or less than a window; windows that never close are made of all
    states.

    `changes_us`: how long after their batch its rows may still change, microseconds.
    """
    states_us = retain.states_us
    if states_us is not None and states_us < changes_us:
        raise DefinitionError(
            f"retain: states of {spell(states_us)} would be gone while their rows may still change, within "
            f"{spell(changes_us)} as "
            "within= of its rows says; keep states at least so long, or let rows change for a shorter time"
        )
    _check_long_enough(retain, windows, schedule)
    _check_revisable(retain, windows)
    unending = [name for name, window in windows.items() if isinstance(window.follows, Unending)]
    if states_us is not None and unending:
        raise DefinitionError(
            f"retain: {unending[0]} never closes, so it needs the states of all batches; "
            'leave states out, as in retain=Retain(refused="90d", reports="400d"), or give all_time a '
            "pipeline of its own"
        )


def _check_long_enough(retain: Retain, windows: Mapping[str, Kind], schedule: Schedule) -> None:
    batch = schedule.around(schedule.first_border_us)
    spans = {name: us for name in TABLES if (us := retain.kept_us(name)) is not None}
    least = dict.fromkeys(spans, (batch.end_us - batch.start_us, "a batch takes"))
    if "windows" in least:
        each = {name: apart_us(window, schedule.first_us) for name, window in windows.items()}
        apart = [(us, f"the next window of {name!r} can take") for name, us in each.items() if us]
        least["windows"] = max(least["windows"], *apart) if apart else least["windows"]
    for name, us in spans.items():
        least_us, what = least[name]
        if us < least_us:
            raise DefinitionError(
                f"retain: {name} of {spell(us)} would be gone before the next come, since {what} "
                f"{spell(least_us)}; "
                f'give a longer time, as retain=Retain({name}="{spell(10 * least_us)}"), or leave {name} '
                "out: they then stay for ever"
            )


def _check_revisable(retain: Retain, windows: Mapping[str, Kind]) -> None:
    """Refuse to remove what late rows may still revise."""
    for table, kept_us in (("states", retain.states_us), ("windows", retain.windows_us)):
        for name, window in windows.items():
            least_us = window.grace_us + window.lateness_us
            if window.lateness_us and kept_us is not None and kept_us < least_us:
                raise DefinitionError(
                    f"retain: {table} of {spell(kept_us)} would be gone while late rows may still revise "
                    f"windows of {name!r}, until {spell(least_us)} after their end, as allowed_lateness "
                    f'says; give a longer time, as retain=Retain({table}="{spell(2 * least_us)}"), or '
                    "less lateness"
                )


def apart_us(window: Kind, at_us: int) -> int:
    """How far ends of neighbouring windows lie apart at most; 0 where windows overlap unevenly."""
    if window.even:
        return window.even.step_us
    spans = window.windows_for(at_us) if window.grid and isinstance(window.follows, Bounded) else []
    return _widest(window.grid, *spans[0]) if window.grid and len(spans) == 1 else 0


def _widest(grid: Callable[[int, int], tuple[Any, Any]], start_us: int, end_us: int) -> int:
    """The greatest distance of two ends on a grid: months have several lengths, and holes part windows."""
    size_us = end_us - start_us
    for windows in _AHEAD:
        ends = [int(end) for end in grid(start_us, start_us + windows * size_us)[1]]
        if len(ends) > 1:
            return max(behind - before for before, behind in pairwise(ends))
    return size_us


_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Freshness:
    """The target of a pipeline, and how long ago the first interval without a publication ended,
    microseconds. `late_us`: negative while that interval lasts; None before anything is published.
    """

    within_us: int
    late_us: int | None

    @property
    def met(self) -> bool:
        """Whether no interval has waited longer for its publication than the target allows."""
        return self.late_us is not None and self.late_us <= self.within_us

    def to_dict(self) -> dict[str, float | bool | None]:
        """The target, how long an interval has waited, both in seconds, and whether it is met, as JSON has
        them.
        """
        late_s = None if self.late_us is None else max(0, self.late_us) / _SECOND_US
        return {"within_s": self.within_us / _SECOND_US, "late_s": late_s, "met": self.met}

    def in_words(self, spell_us: Callable[[int], str]) -> str:
        """How long an interval has waited, for people."""
        if self.late_us is None:
            return "nothing is published"
        if self.late_us <= 0:
            return "every interval that has ended is published"
        return f"an interval that ended {spell_us(self.late_us)} ago is not published"


def freshness(
    within_us: int | None, newest_us: Iterable[int | None], schedule: Schedule, now_us: int
) -> Freshness | None:
    """How far a pipeline is from its target; None: it has none.

    `newest_us`: of each window the start of the newest published batch, if any.
    """
    if within_us is None:
        return None
    newest = [*newest_us]
    starts = [start for start in newest if start is not None]
    if not starts or len(starts) < len(newest):
        return Freshness(within_us, None)
    return Freshness(within_us, now_us - schedule.after(schedule.after(min(starts))))


PUBLISH_DESPITE = "muntin publish FILE --despite {} --reason WHY"
"""The command that publishes what a suite holds, with the name of its verdict."""
