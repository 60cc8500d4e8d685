"""Small random cases for the core: a window twice (ours and the oracle's), and batches of random rows."""

import random
from dataclasses import dataclass, replace
from typing import Any

from muntin.definition.kinds import Unending
from muntin.testing.oracle import Batch
from muntin.windows.kind import Window
from tests.catalogue.kinds import DRAWS, called
from tests.catalogue.random_times import MINUTE, Drawn
from tests.properties.random_rows import rows


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
    lateness: int = 0
    """For how long after its closing rows that come revise a window."""

    @property
    def begin(self) -> int:
        """Where a frame begins."""
        return self.ours.cycle.cuts_us[0] % self.width if self.ours.cycle else 0


OFTEN = ("tumbling", "sliding", "sliding", "session", "session")


def case(seed: int) -> Case:
    """A case of a kind that is used often; equal seeds give equal cases."""
    return case_of("local_days" if seed % 20 == 0 else OFTEN[seed % 5], seed)


def case_of(draw: str, seed: int) -> Case:
    """A case of that kind; equal seeds give equal cases. Frames may be finer than it needs, as when windows share them."""
    dice = random.Random(f"{draw} {seed}")
    drawn = DRAWS[draw](dice)
    return case_over(dice, drawn, called(drawn.theirs), seed)


def case_over(dice: random.Random, drawn: Drawn, ours: Window, seed: int) -> Case:
    """A case of a window, the oracle's and ours."""
    length = 5 * drawn.unit
    first = drawn.base - dice.randint(0, 5) * length
    batches = [Batch(n, n + length, rows(dice, n, drawn.unit)) for n in range(first, first + dice.randint(3, 7) * length, length)]
    width = ours.frame_us(dice.choice([0, 0, 1, 2, 5, 7]) * MINUTE)
    finer = dice.choice([part for part in (1, 1, 2, 4, 60) if width % part == 0])
    keys, policy = dice.choice([("k",), ("k",), ()]), dice.choice(["interval", "events"])
    lateness = 0 if isinstance(ours.follows, Unending) else dice.choice([0, 0, 1, 1_000_000, 3 * drawn.unit, 5 * length])
    return Case(seed, replace(ours, lateness_us=lateness), drawn.theirs, width // finer, keys, policy, tuple(batches), lateness)
