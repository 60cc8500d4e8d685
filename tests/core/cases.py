"""Small random cases for the core: a window twice (ours and the oracle's), and batches full of ties and exact borders."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, nan
from typing import Any

from pipelines.windows import Session, Sliding, Tumbling, Window, tumbling
from tests import oracle
from tests.oracle import Batch

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


@dataclass(frozen=True)
class Case:
    """One definition and its batches."""

    seed: int
    ours: Window
    theirs: Any
    width: int
    keys: tuple[str, ...]
    policy: str
    batches: tuple[Batch, ...]


def case(seed: int) -> Case:
    """A case; equal seeds give equal cases."""
    dice = random.Random(seed)
    unit, base = (HOUR, zone_base(dice)) if seed % 20 == 0 else (MINUTE, dice.choice(BASES))
    length = 5 * unit
    ours, theirs, width = zoned(dice, base) if unit == HOUR else plain(dice)
    first = base - dice.randint(0, 5) * length
    batches = [Batch(n, n + length, rows(dice, n, unit)) for n in range(first, first + dice.randint(3, 7) * length, length)]
    return Case(seed, ours, theirs, width, dice.choice([("k",), ("k",), ()]), dice.choice(["interval", "events"]), tuple(batches))


def plain(dice: random.Random) -> tuple[Window, Any, int]:
    """A window kind with its parameters, and a width that its frames may have."""
    grace = dice.choice([0, 0, 0, 1, MINUTE, 5 * MINUTE, 12 * MINUTE])
    align = dice.choice([0, 0, dice.randint(1, 12)])
    clock = f"00:{align:02d}"
    kind = dice.choice(["tumbling", "sliding", "sliding", "session", "session"])
    if kind == "session":
        gap, touching = dice.randint(1, 6) * MINUTE, dice.choice(["merge", "split"])
        ours = Session(gap, touching, grace)
        return ours, oracle.Session(gap, grace, touching), ours.frame_us(dice.choice([0, 0, 1, 2, 5, 7]) * MINUTE)
    step = dice.choice([1, 2, 3, 5, 7]) * MINUTE
    size = step * (1 if kind == "tumbling" else dice.randint(1, 6))
    width = gcd(step, align * MINUTE) // dice.choice([1, 1, 2, 4])
    if kind == "tumbling":
        return Tumbling(size, align * MINUTE % size, None, grace), oracle.Tumbling(size, grace, clock), width
    return Sliding(size, step, align * MINUTE % step, grace), oracle.Sliding(size, step, grace, clock), width


def zoned(dice: random.Random, base: int) -> tuple[Window, Any, int]:
    """Days of a zone whose clocks change near the base."""
    name, _, *clocks = next(zone for zone in ZONES if day(zone[1]) == base)
    clock, days, grace = dice.choice(clocks), dice.choice([1, 1, 2]), dice.choice([0, HOUR])
    ours = tumbling(days * oracle.DAY, align_to=clock, timezone=name, grace=grace)
    return ours, oracle.Tumbling(days * oracle.DAY, grace, clock, name), ours.frame_us(0)


def zone_base(dice: random.Random) -> int:
    return day(dice.choice(ZONES)[1])


def day(text: str) -> int:
    """Midnight UTC of a date in microseconds."""
    from datetime import UTC, datetime

    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def rows(dice: random.Random, start: int, unit: int = MINUTE) -> list[dict[str, Any]]:
    """A batch: often small, now and then empty, its keys not those of the batch before."""
    names = dice.sample(["a", "b", "ü", None], k=dice.randint(1, 3))
    return [row(dice, start, unit, names) for _ in range(dice.choice([0, 1, 2, 4, 7, 12]))]


def row(dice: random.Random, start: int, unit: int, names: Sequence[str | None]) -> dict[str, Any]:
    """`x` sums differently in every order and may be NaN; `s` tells rows apart."""
    x = nan if dice.random() < 0.02 else dice.choice([None, dice.randint(-99, 99) / 10, dice.gauss(0, 1e3), dice.gauss(1e6, 1)])
    return {
        "t": when(dice, start, unit),
        "k": dice.choice(names),
        "v": dice.choice([None, *range(-3, 9)]),
        "x": x,
        "s": dice.choice("pqrst"),
    }


def when(dice: random.Random, start: int, unit: int) -> int:
    """Mostly now, in ties and on borders; also late, too late, a little early."""
    delay = dice.choices(
        [0, 1, -1, dice.randint(1, 12) * unit, dice.randint(10, 40) * unit, -dice.randint(1, 12) * unit], [60, 6, 6, 20, 5, 5]
    )[0]
    return start + dice.randint(0, 5) * unit - delay
