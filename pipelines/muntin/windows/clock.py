"""Clocks: time zones as arrays, where local windows begin and end in UTC, the anchor of a grid, instants as
users give them.

Before 1970 and after 2150 a zone keeps the offset it has then: local mean times of the 19th century would
force frames of seconds on everyone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache, wraps
from hashlib import sha256
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING, Any

from muntin.definition.clocks import clock_changes, zone_info
from muntin.definition.durations import DAY_US, UNITS, microseconds
from muntin.definition.instants import AFTER_ALL, BEFORE_ALL, from_us, instant_us
from muntin.definition.kinds import Cycle
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from muntin.states.frames import Ints

    Cut = Callable[[Ints], tuple[Ints, Ints]]

_FIRST, _LAST = datetime(1970, 1, 1), datetime(2150, 1, 1)  # noqa: DTZ001 - of UTC
_STRIDE = timedelta(days=5)  # no zone changed its clocks twice within five days since 1970


@dataclass(frozen=True, slots=True)
class Zone:
    """The offsets of a zone: `offsets[i]` holds from `changes[i]` on; all in microseconds.

    `rules` names the offsets: it distinguishes zones, while `name` is for people.
    """

    name: str = field(repr=False, compare=False)
    rules: str
    changes: tuple[int, ...] = field(repr=False)
    offsets: tuple[int, ...] = field(repr=False)

    @property
    def grain(self) -> int:
        """The greatest common divisor of the zone's offsets and of the instants at which they change."""
        return gcd(*self.offsets, *self.changes[1:])

    def local(self, instant_us: int) -> int:
        """The time that the local clock shows at an instant, in microseconds."""
        return instant_us + self.offsets[bisect_right(self.changes, instant_us) - 1]

    @property
    def shift(self) -> int:
        """The greatest common divisor of all changes of the clock; 0 if it never changes."""
        return gcd(*(after - before for before, after in pairwise(self.offsets)))


@lru_cache
def borders_in_utc(where: Zone, size_us: int, align_us: int) -> Cycle:
    """The times of UTC at which windows of the local clock may begin: `size_us` long, with a border at
    `align_us`.

    A border is a time of the local clock less an offset of the zone, or the change of the clock that leaves
    this time out.
    """
    shown = {(align_us - offset) % size_us for offset in where.offsets}
    jumps = zip(where.changes[1:], pairwise(where.offsets), strict=True)
    left_out = {
        change % size_us
        for change, (before, after) in jumps
        if (change + before - align_us) // size_us < (change + after - align_us) // size_us
    }
    return Cycle(size_us, tuple(sorted(shown | left_out)))


@lru_cache
def zone(name: str) -> Zone:
    """The zone of this IANA name."""
    changes, offsets = clock_changes(zone_info(name), _FIRST, _LAST, _STRIDE)
    changes.insert(0, BEFORE_ALL)
    rules = sha256(repr((changes, offsets)).encode()).hexdigest()[:12]
    return Zone(name, rules, tuple(changes), tuple(offsets))


def local_clock(instants: Ints, where: Zone) -> Ints:
    """The time that the local clock shows at each instant, in microseconds of the local clock."""
    import numpy as np

    changes, offsets = np.array(where.changes, np.int64), np.array(where.offsets, np.int64)
    shown: Ints = instants + offsets[np.searchsorted(changes, instants, side="right") - 1]
    return shown


def first_shown(local: Ints, where: Zone) -> Ints:
    """The first instant at which the local clock shows each time or a later time."""
    import numpy as np

    return _first_shown(local, np.array(where.changes, np.int64), np.array(where.offsets, np.int64))


def local_windows(instants: Ints, cut: Cut, where: Zone) -> tuple[Ints, Ints]:
    """Start and end, in UTC, of the local window that holds each instant.

    `instants`: microseconds. `cut`: from times of the local clock to the borders before and after them.
    `where`: the zone whose clock it is.

    A border is the first instant at which the local clock shows it or a later time, so that a day on which
    clocks change has 23 or 25 hours.
    """
    import numpy as np

    changes, offsets = np.array(where.changes, np.int64), np.array(where.offsets, np.int64)
    before, after = cut(instants + offsets[np.searchsorted(changes, instants, side="right") - 1])
    start, end = _first_shown(before, changes, offsets), _first_shown(after, changes, offsets)
    passed = instants >= end  # the clock was put back over a border that it had shown already
    return np.where(passed, end, start), np.where(passed, _first_shown(cut(after)[1], changes, offsets), end)


def shifted_windows(instants: Ints, cut: Cut, where: Zone) -> tuple[Ints, Ints]:
    """Windows as of `local_windows`, for zones whose clock changes by whole windows: lengths stay."""
    import numpy as np

    changes, offsets = np.array(where.changes, np.int64), np.array(where.offsets, np.int64)
    offset = offsets[np.searchsorted(changes, instants, side="right") - 1]
    before, after = cut(instants + offset)
    return before - offset, after - offset


def _first_shown(local: Ints, changes: Ints, offsets: Ints) -> Ints:
    """The first instants at which the local clock shows the given times or later times."""
    import numpy as np

    until = np.append(changes[1:], AFTER_ALL) + offsets  # the local time at which each offset ends
    valid = np.searchsorted(np.maximum.accumulate(until), local, side="right")
    shown: Ints = np.maximum(changes[valid], local - offsets[valid])
    return shown


WEEKDAYS = (
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
)  # 1970-01-01 was a Thursday
Alignment = str | datetime | None

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")


def alignment_us(align_to: Alignment, where: Zone | None = None) -> int:
    """Microseconds from 1970-01-01T00:00 to a border of the grid, both on the clock of the windows.

    >>> alignment_us("23:59") // 60_000_000
    1439

    `align_to`: a time of day, a weekday, an aware datetime, or None. `where`: the zone whose clock cuts the
    windows.
    """
    if align_to is None:
        return 0
    if isinstance(align_to, datetime):
        us = instant_us(align_to, "align_to")
        return where.local(us) if where else us
    if isinstance(align_to, str) and (match := _CLOCK.fullmatch(align_to)):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return hours * UNITS["h"] + minutes * UNITS["m"] + seconds * UNITS["s"]
    if isinstance(align_to, str) and align_to.lower() in WEEKDAYS:
        return WEEKDAYS.index(align_to.lower()) * DAY_US
    raise DefinitionError(
        f'align_to: {align_to!r} is not understood; give a time of day as "23:59", a weekday as "monday", or '
        "an aware datetime"
    )


Find = Callable[[Any, int], list[tuple[int, int]]]


def at_any_instant(find: Find) -> Find:
    """Let `windows_for` take a datetime, and give datetimes; or a duration or microseconds since 1970."""

    @wraps(find)
    def windows_for(self: Any, at: Any) -> Any:  # noqa: ANN401 - any of the three
        if isinstance(at, datetime):
            return [
                (from_us(start), from_us(end)) for start, end in find(self, instant_us(at, "windows_for"))
            ]
        return find(self, microseconds(at, "windows_for") if isinstance(at, str | timedelta) else at)

    return windows_for
