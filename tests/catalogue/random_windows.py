"""Random windows of each kind, as the oracle has them."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from muntin.testing.oracle import (
    DAY,
    AllTime,
    BusinessDays,
    Calendar,
    Cumulating,
    HalfMonths,
    LastPart,
    OwnGapSession,
    RightClosed,
    Samples,
    Session,
    Sliding,
    Trailing,
    Tumbling,
)
from muntin.testing.oracle.time import Row
from tests.catalogue.random_times import FIRSTS, HOUR, MINUTE, ZONES, Drawn, alignment, clock, day, grace, some
from tests.oracle import Unique, adjacent
from tests.oracle.rows_of_sessions import Ends, Gaps


def tumbling(dice: random.Random) -> Drawn:
    """Minutes, aligned anyhow."""
    return some(dice, Tumbling(dice.choice([1, 2, 3, 5, 7]) * MINUTE, grace(dice), clock(dice)))


def sliding(dice: random.Random) -> Drawn:
    """Up to six steps long."""
    step = dice.choice([1, 2, 3, 5, 7]) * MINUTE
    return some(dice, Sliding(step * dice.randint(1, 6), step, grace(dice), clock(dice)))


def session(dice: random.Random) -> Drawn:
    """Of a few minutes."""
    return some(dice, Session(dice.randint(1, 6) * MINUTE, grace(dice), dice.choice(["merge", "split"])))


def cut_session(dice: random.Random) -> Drawn:
    """Some of them are cut at every gap, some never."""
    gap = dice.randint(1, 5) * MINUTE
    longest = dice.choice([gap, gap + 1, dice.randint(1, 12) * MINUTE, dice.randint(1, 12) * MINUTE - 1, 60 * MINUTE])
    return some(dice, Session(gap, grace(dice), dice.choice(["merge", "split"]), max(gap, longest)))


def ended_session(dice: random.Random) -> Drawn:
    """Ended by a row that is there now and then, some of them cut as well."""
    longest = dice.choice([None, None, dice.randint(5, 12) * MINUTE])
    gap = dice.randint(1, 5) * MINUTE
    return some(dice, Session(gap, grace(dice), dice.choice(["merge", "split"]), longest, Ends(dice.choice([1, 2, 3]))))


def own_gap_session(dice: random.Random) -> Drawn:
    """Gaps of some halves of a minute, or of some minutes."""
    unit = dice.choice([MINUTE // 2, MINUTE, MINUTE, 2 * MINUTE])
    return some(dice, OwnGapSession(Gaps(dice.randint(1, 6) * MINUTE, unit), grace(dice), dice.choice(["merge", "split"])))


def unique_sliding(dice: random.Random) -> Drawn:
    """Resolutions finer than, as fine as, and coarser than the events' times."""
    resolution = dice.choice([1, 1_000, MINUTE // 60, MINUTE, MINUTE, 2 * MINUTE, 7 * MINUTE])
    size = resolution * dice.randint(1, 9) if resolution >= MINUTE else dice.randint(1, 9) * MINUTE
    return some(dice, Unique(size, resolution, dice.choice(["change", "change", "enter"]), grace(dice)))


def all_time(dice: random.Random) -> Drawn:
    """Nothing to choose."""
    return some(dice, AllTime())


def local_days(dice: random.Random) -> Drawn:
    """Days of a zone whose clocks change."""
    name, date, *clocks = dice.choice(ZONES)
    return Drawn(Tumbling(dice.choice([1, 1, 2]) * DAY, dice.choice([0, HOUR]), dice.choice(clocks), name), HOUR, day(date))


def calendar(dice: random.Random) -> Drawn:
    """Months, quarters, years; by hours around a first, or by days over months."""
    name, date, *clocks = dice.choice(FIRSTS)
    unit = dice.choice([HOUR, DAY])
    months = dice.choice([1, 1, 2, 3, 12, 5, 24])
    return Drawn(Calendar(months, grace(dice, unit), alignment(dice, name, clocks), name), unit, day(date))


def cumulating(dice: random.Random) -> Drawn:
    """Minutes, aligned anyhow."""
    step = dice.choice([1, 2, 3, 5, 7]) * MINUTE
    return some(dice, Cumulating(step * dice.randint(1, 6), step, grace(dice), clock(dice)))


def cumulating_days(dice: random.Random) -> Drawn:
    """Local days where clocks change, by the hour or by the day."""
    name, date, *clocks = dice.choice(ZONES)
    full, step = dice.choice([(1, DAY), (2, DAY), (6, 2 * DAY), (1, HOUR), (1, HOUR // 2), (2, 6 * HOUR), (1, 8 * HOUR)])
    return Drawn(Cumulating(full * DAY, step, grace(dice, HOUR), dice.choice(clocks), name), HOUR, day(date))


def cumulating_months(dice: random.Random) -> Drawn:
    """To date: of the month, the quarter, the year."""
    name, date, *clocks = dice.choice(FIRSTS)
    full, step = dice.choice([("1mo", DAY), ("1mo", 12 * HOUR), ("3mo", DAY), ("3mo", "1mo"), ("12mo", "1mo"), ("12mo", "3mo")])
    unit = dice.choice([HOUR, DAY])
    return Drawn(Cumulating(full, step, grace(dice, unit), dice.choice(clocks), name), unit, day(date))


def half_months(dice: random.Random) -> Drawn:
    """By days, over some of them; or by hours around a first."""
    month = calendar(dice)
    return replace(month, theirs=HalfMonths(month.theirs.grace, month.theirs.align_to, month.theirs.timezone))


def business_days(dice: random.Random) -> Drawn:
    """Around weekends on which clocks change."""
    name, date, *clocks = dice.choice(ZONES)
    return Drawn(BusinessDays(dice.choice([0, HOUR, 9 * HOUR]), dice.choice(clocks), name), dice.choice([HOUR, 6 * HOUR]), day(date))


def trailing(dice: random.Random) -> Drawn:
    """A few months up to the end of each, a few days up to each midnight, or some hours every few hours."""
    if dice.random() < 1 / 3:
        month = calendar(dice)
        return replace(month, theirs=Trailing(dice.choice([1, 2, 3, 5]), replace(month.theirs, months=1)))
    name, date, *clocks = dice.choice(ZONES)
    stretch = Tumbling(dice.choice([DAY, DAY, 12 * HOUR, 6 * HOUR, HOUR]), dice.choice([0, HOUR]), dice.choice(clocks), name)
    return Drawn(Trailing(dice.choice([1, 2, 7]), stretch), HOUR, day(date))


def last_part(dice: random.Random) -> Drawn:
    """The last days of a month, or the last hours of a day."""
    if dice.random() < 1 / 2:
        month = calendar(dice)
        return replace(month, theirs=LastPart(dice.choice([1, 7, 28]) * DAY, replace(month.theirs, months=1)))
    name, date, *clocks = dice.choice(ZONES)
    stretch = Tumbling(dice.choice([DAY, 2 * DAY]), dice.choice([0, HOUR]), dice.choice(clocks), name)
    return Drawn(LastPart(dice.choice([1, 6, 7, 12, 23]) * HOUR, stretch), HOUR, day(date))


def samples(dice: random.Random) -> Drawn:
    """Some minutes of each few, aligned anyhow."""
    step = dice.randint(2, 9)
    return some(dice, Samples(dice.randint(1, step - 1) * MINUTE, step * MINUTE, grace(dice), clock(dice)))


def right_closed(dice: random.Random, draws: Sequence[Callable[[random.Random], Drawn]]) -> Drawn:
    """One of some windows, closed at its right."""
    drawn = dice.choice(draws)(dice)
    return replace(drawn, theirs=RightClosed(drawn.theirs))


CONDITIONS: Mapping[str, Callable[[Row], bool | None]] = {
    "v > 2": lambda row: None if row["v"] is None else row["v"] > 2,
    "v % 3 = 0 or s = 'q'": lambda row: (row["v"] is not None and row["v"] % 3 == 0) or row["s"] == "q",
    "v is not null": lambda row: row["v"] is not None,
    "s < 'r'": lambda row: None if row["s"] is None else row["s"] < "r",
}
"""SQL over a row, and what it is of a row: true, false or unknown."""
VALUES: Mapping[str, Callable[[Row], Any]] = {
    "s": lambda row: row["s"],
    "v": lambda row: row["v"],
    "v > 3": lambda row: None if row["v"] is None else row["v"] > 3,
    "nullif(s, 'q')": lambda row: None if row["s"] == "q" else row["s"],
}


def holding(sql: str, grace: int = 0, limit: int | None = None, at_least: int = 0) -> adjacent.While:
    """While a condition holds; unknown is not true."""
    return adjacent.While((sql,), grace, limit, lambda row: CONDITIONS[sql](row) or None, at_least)


def lasting(sql: str, grace: int = 0, limit: int | None = None, at_least: int = 0) -> adjacent.WhileSame:
    """While a value is the same."""
    return adjacent.WhileSame((sql,), grace, limit, VALUES[sql], at_least)


def enclosed(opens: str, closes: str, grace: int = 0, limit: int | None = None) -> adjacent.Between:
    """Between two rows."""
    return adjacent.Between((opens, closes), grace, limit, *(lambda row, sql=sql: bool(CONDITIONS[sql](row)) for sql in (opens, closes)))


def lengths(dice: random.Random) -> tuple[int | None, int]:
    """The greatest length, often none, and the least, often none."""
    limit = dice.choice([None, None, 1, MINUTE, dice.randint(1, 20) * MINUTE, dice.randint(1, 20) * MINUTE + 1])
    return limit, min(limit or 100 * MINUTE, dice.choice([0, 0, 1, MINUTE, 3 * MINUTE]))


def while_(dice: random.Random) -> Drawn:
    """Conditions that hold seldom and often, and are null now and then."""
    return some(dice, holding(dice.choice([*CONDITIONS]), grace(dice), *lengths(dice)))


def while_same(dice: random.Random) -> Drawn:
    """Values with few and with many neighbours alike."""
    return some(dice, lasting(dice.choice([*VALUES]), grace(dice), *lengths(dice)))


def between(dice: random.Random) -> Drawn:
    """Rows that open and close, some of them both."""
    return some(dice, enclosed(*dice.choices([*CONDITIONS], k=2), grace(dice), lengths(dice)[0]))
