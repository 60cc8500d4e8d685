"""Random cases of the kinds that came later: cumulating, calendar, unique, cut sessions, all of time."""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from pipelines import windows
from tests import oracle
from tests.core.cases import BASES, HOUR, MINUTE, ZONES, Case, day, rows
from tests.oracle import DAY, Batch

Made = tuple[Any, Any, int, int]
"""Our window, the oracle's, the unit of time, where the batches begin."""

FIRSTS = (
    ("America/New_York", "2024-04-01", "00:00", "23:59"),
    ("America/New_York", "2024-11-01", "00:00", "06:00"),
    ("Asia/Amman", "2011-04-01", "00:00", "01:00"),
    ("America/Havana", "2015-11-01", "00:00", "00:30"),
    ("Asia/Kathmandu", "1986-01-01", "00:00", "12:00"),
    ("UTC", "2024-01-01", "00:00", "23:00"),
    ("UTC", "1970-01-01", "00:00", "00:01"),
)
"""Firsts of months that are not there at midnight, are there twice, or lie where clocks change in between."""


def grace(dice: random.Random, unit: int) -> int:
    """Mostly none."""
    return dice.choice([0, 0, 0, 1, unit, 5 * unit, 12 * unit])


def unique(dice: random.Random) -> Made:
    """Resolutions finer than, as fine as, and coarser than the events' times."""
    resolution = dice.choice([1, 1_000, MINUTE // 60, MINUTE, MINUTE, 2 * MINUTE, 7 * MINUTE])
    size = resolution * dice.randint(1, 9) if resolution >= MINUTE else dice.randint(1, 9) * MINUTE
    on, wait = dice.choice(["change", "change", "enter"]), grace(dice, MINUTE)
    ours = windows.unique_sliding(size, resolution=resolution, on=on, grace=wait)
    return ours, oracle.Unique(size, resolution, on, wait), MINUTE, dice.choice(BASES)


def cut_session(dice: random.Random) -> Made:
    """Some of them are cut at every gap, some never."""
    gap, touching, wait = dice.randint(1, 5) * MINUTE, dice.choice(["merge", "split"]), grace(dice, MINUTE)
    longest = max(gap, dice.choice([gap, gap + 1, dice.randint(1, 12) * MINUTE, dice.randint(1, 12) * MINUTE - 1, 60 * MINUTE]))
    ours = windows.session(gap, touching=touching, max_length=longest, grace=wait)
    return ours, oracle.Session(gap, wait, touching, longest), MINUTE, dice.choice(BASES)


def cumulating(dice: random.Random) -> Made:
    """Minutes, aligned anyhow."""
    step, wait, align = dice.choice([1, 2, 3, 5, 7]) * MINUTE, grace(dice, MINUTE), f"00:{dice.choice([0, 0, dice.randint(1, 12)]):02d}"
    full = step * dice.randint(1, 6)
    ours = windows.cumulating(full, step=step, align_to=align, grace=wait)
    return ours, oracle.Cumulating(full, step, wait, align), MINUTE, dice.choice(BASES)


def cumulating_days(dice: random.Random) -> Made:
    """Local days where clocks change, by the hour or by the day."""
    name, date, *clocks = dice.choice(ZONES)
    clock, wait = dice.choice(clocks), grace(dice, HOUR)
    full, step = dice.choice([(1, DAY), (2, DAY), (6, 2 * DAY), (1, HOUR), (1, HOUR // 2), (2, 6 * HOUR), (1, 8 * HOUR)])
    ours = windows.cumulating(full * DAY, step=step, align_to=clock, timezone=name, grace=wait)
    return ours, oracle.Cumulating(full * DAY, step, wait, clock, name), HOUR, day(date)


def cumulating_months(dice: random.Random) -> Made:
    """To date: of the month, the quarter, the year."""
    name, date, *clocks = dice.choice(FIRSTS)
    full, step = dice.choice([("1mo", "1d"), ("1mo", "12h"), ("3mo", "1d"), ("3mo", "1mo"), ("12mo", "1mo"), ("12mo", "3mo")])
    unit = dice.choice([HOUR, DAY])
    clock, wait = dice.choice(clocks), grace(dice, unit)
    ours = windows.cumulating(full, step=step, align_to=clock, timezone=name, grace=wait)
    theirs = oracle.Cumulating(full, {"12h": 12 * HOUR, "1d": DAY}.get(step, step), wait, clock, name)
    return ours, theirs, unit, day(date)


def calendar(dice: random.Random) -> Made:
    """Months, quarters, years; by hours around a first, or by days over months."""
    name, date, *clocks = dice.choice(FIRSTS)
    size, months = dice.choice([("1mo", 1), ("1mo", 1), ("2mo", 2), ("1q", 3), ("1y", 12), ("5mo", 5), ("2y", 24)])
    unit = dice.choice([HOUR, DAY])
    wait, align = grace(dice, unit), alignment(dice, name, clocks)
    ours = windows.tumbling(size, align_to=align, timezone=name, grace=wait)
    return ours, oracle.Calendar(months, wait, align, name), unit, day(date)


def alignment(dice: random.Random, zone: str, clocks: list[str]) -> str | datetime:
    """A clock, or the first of a month."""
    first = datetime(2020 - dice.choice([0, 45]), dice.randint(1, 12), 1, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    return dice.choice([*clocks, first, first.astimezone(ZoneInfo(zone))])


def all_time(dice: random.Random) -> Made:
    """Nothing to choose."""
    return windows.all_time(), oracle.AllTime(), MINUTE, dice.choice(BASES)


KINDS: dict[str, Callable[[random.Random], Made]] = {
    make.__name__: make for make in (unique, cut_session, cumulating, cumulating_days, cumulating_months, calendar, all_time)
}


def case_of(kind: str, seed: int) -> Case:
    """A case of that kind; equal seeds give equal cases. Frames may be finer than it needs, as when windows share them."""
    dice = random.Random(f"{kind} {seed}")
    ours, theirs, unit, base = KINDS[kind](dice)
    length = 5 * unit
    first = base - dice.randint(0, 5) * length
    found = [Batch(n, n + length, rows(dice, n, unit)) for n in range(first, first + dice.randint(3, 7) * length, length)]
    width = ours.frame_us(dice.choice([0, 0, 1, 2, 5, 7]) * MINUTE if kind == "cut_session" else 0)
    finer = dice.choice([part for part in (1, 1, 2, 60) if width % part == 0])
    return Case(seed, ours, theirs, width // finer, dice.choice([("k",), ("k",), ()]), dice.choice(["interval", "events"]), tuple(found))
