"""What random windows and histories are made of: zones and days on which something happens, units of time, graces."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

MINUTE = 60_000_000
HOUR = 60 * MINUTE
LENGTH = 5 * MINUTE
BASES = (1_704_067_200_000_000, -2 * LENGTH, 1_704_067_200_000_000 - 3 * LENGTH)
"""2024 on a border of everything, across 1970, and 2024 in the midst."""

ZONES = (
    ("America/New_York", "2024-03-10", "00:00", "23:59"),
    ("America/New_York", "2024-11-03", "00:00", "03:00"),
    ("Australia/Lord_Howe", "2024-04-07", "00:00", "12:30"),
    ("Asia/Kathmandu", "1985-12-31", "00:00", "06:00"),
    ("Europe/Moscow", "2014-10-26", "00:00", "05:15"),
    ("America/Sao_Paulo", "2018-11-04", "00:00", "12:00"),
)
"""A zone, a day on which its clocks change, and times of day at which windows may begin."""

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


@dataclass(frozen=True)
class Drawn:
    """A random window of the oracle's, the unit of time of its events, and the instant near which they happen."""

    theirs: Any
    unit: int
    base: int


def some(dice: random.Random, theirs: Any) -> Drawn:
    """Over events that are minutes apart."""
    return Drawn(theirs, MINUTE, dice.choice(BASES))


def grace(dice: random.Random, unit: int = MINUTE) -> int:
    """Mostly none."""
    return dice.choice([0, 0, 0, 1, unit, 5 * unit, 12 * unit])


def clock(dice: random.Random) -> str:
    """A time of day, mostly midnight, at which windows of minutes begin."""
    return f"00:{dice.choice([0, 0, dice.randint(1, 12)]):02d}"


def alignment(dice: random.Random, zone: str, clocks: list[str]) -> str | datetime:
    """A clock, or a day of a month, mostly the first."""
    first = datetime(2020 - dice.choice([0, 45]), dice.randint(1, 12), dice.choice([1, 1, 2, 26, 28]), tzinfo=ZoneInfo(zone)).astimezone(
        UTC
    )
    return dice.choice([*clocks, first, first.astimezone(ZoneInfo(zone))])


def day(text: str) -> int:
    """Midnight UTC of a date in microseconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000
