"""How many cases tests try: few while you work (`make check`), more in `make test`, as many as you want on request.

`MUNTIN_CORE` is the number of random cases of a test that tries many; others try their share. `make test` says 40; 3000 is all.
"""

import os
import random
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

ALL = 3000
FEW = 30


def share() -> float:
    """Of the random cases that tests speak of; 1.0 is all."""
    return int(os.environ.get("MUNTIN_CORE", str(FEW))) / ALL


def few() -> bool:
    """Whether tests are to be quick."""
    return share() <= FEW / ALL


def cases(every: int) -> int:
    """How many of them to try."""
    return max(1, round(every * share()))


def some(every: Iterable[T]) -> list[T]:
    """All of them; a quarter of them in `make test`, drawn once and for all; every tenth while you work."""
    found = list(every)
    if few():
        return found[::10]
    drawn = random.Random(len(found)).sample(range(len(found)), (len(found) + 3) // 4)
    return found if share() >= 1 else [found[at] for at in sorted(drawn)]


def seeds(count: int) -> list[int]:
    """Seeds of scenarios for the judge: some of so many, or as many as `MUNTIN_JUDGE` says."""
    asked = os.environ.get("MUNTIN_JUDGE")
    return list(range(int(asked))) if asked else some(range(count))
