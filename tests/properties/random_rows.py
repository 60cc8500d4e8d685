"""Random rows of a batch, full of ties and exact borders."""

import random
from collections.abc import Sequence
from math import nan
from typing import Any

from tests.catalogue.random_times import MINUTE


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
