"""How many cases tests try: few while you work (`make check`), more in `make test`, as many as you want on request.

`MUNTIN_CORE` is the number of random cases of a test that tries many; others try their share. `make test` says 10; 3000 is all.
From 300 on, tests try every case of what can be listed.

Which cases, follows from `MUNTIN_SEED`, another number with each run, which is printed at the end: many runs try what a
single run leaves out, and `MUNTIN_SEED=... make test` tries the same cases again.
"""

import os
import random
import secrets
from collections.abc import Iterable
from itertools import cycle, islice, product
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

ALL = 3000
AT_LENGTH = 300
FEW = 30
MOST = 10_000

at_length = pytest.mark.at_length
"""Marks a test that only `make test-long` runs. Whole files, and tests of which only some cases are long, stand in tests/at_length.py."""


def draw(number: int | None = None) -> None:
    """Settle the seed of this run and of the processes that it starts, unless it was given."""
    os.environ.setdefault("MUNTIN_SEED", str((secrets.randbelow(MOST) if number is None else number) % MOST))


def seed() -> int:
    """What this run draws its cases with."""
    draw()
    return int(os.environ["MUNTIN_SEED"])


def count() -> int:
    """How many random cases a test tries that speaks of all."""
    return int(os.environ.get("MUNTIN_CORE", FEW))


def share() -> float:
    """Of the random cases that tests speak of; 1.0 is all."""
    return count() / ALL


def long() -> bool:
    """Whether tests may take hours."""
    return share() >= AT_LENGTH / ALL


def cases(every: int) -> int:
    """How many of them to try."""
    return max(1, round(every * share()))


def random_seeds(every: int) -> range:
    """Seeds of so many random cases, or of the share of them that is tried."""
    return range(seed() * every, seed() * every + cases(every))


def some(every: Iterable[T], one_in: int = 10) -> list[T]:
    """Every tenth, or one in so many, drawn; all of them at length."""
    listed = list(every)
    positions = random.Random(f"{seed()} {len(listed)}").sample(range(len(listed)), -(-len(listed) // one_in))
    return listed if long() else [listed[at] for at in sorted(positions)]


def paired(*every: Iterable[Any]) -> list[tuple[Any, ...]]:
    """All combinations at length; else each value of each, in turns."""
    lists = [list(values) for values in every]
    if long():
        return list(product(*lists))
    first, *others = lists
    at = seed() % len(first)
    return list(islice(zip(*map(cycle, [first[at:] + first[:at], *others]), strict=False), max(map(len, lists))))


def seeds(count: int) -> list[int]:
    """Seeds of scenarios for the judge: some of so many, or as many as `MUNTIN_JUDGE` says."""
    asked = os.environ.get("MUNTIN_JUDGE")
    return list(range(int(asked))) if asked else some(range(count))
