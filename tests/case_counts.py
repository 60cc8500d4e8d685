"""How many cases tests try: few while you work (`make check`), more in `make test`, as many as you want on request.

`MUNTIN_CORE` is the number of random cases of a test that tries many; others try their share. `make test` says 40; 3000 is all.
From 300 on, tests try every case of what can be listed, and those run that are too long for `make test`.

"""

import os
import random
from collections.abc import Iterable
from itertools import cycle, islice, product
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

ALL = 3000
AT_LENGTH = 300
FEW = 30


def share() -> float:
    """Of the random cases that tests speak of; 1.0 is all."""
    return int(os.environ.get("MUNTIN_CORE", str(FEW))) / ALL


def long() -> bool:
    """Whether tests may take hours."""
    return share() >= AT_LENGTH / ALL


TOO_LONG = f"too long for every change: MUNTIN_CORE={AT_LENGTH} make test"
at_length = pytest.mark.skipif(not long(), reason=TOO_LONG)
"""Marks a test that `make test` leaves out unless it is asked for all; most have a shorter form beside."""


def cases(every: int) -> int:
    """How many of them to try."""
    return max(1, round(every * share()))


def some(every: Iterable[T]) -> list[T]:
    """Every tenth, drawn once and for all; all of them at length."""
    found = list(every)
    drawn = random.Random(len(found)).sample(range(len(found)), (len(found) + 9) // 10)
    return found if long() else [found[at] for at in sorted(drawn)]


def paired(*every: Iterable[Any]) -> list[tuple[Any, ...]]:
    """All combinations at length; else each value of each, in turns."""
    lists = [list(values) for values in every]
    if long():
        return list(product(*lists))
    return list(islice(zip(*map(cycle, lists), strict=False), max(map(len, lists))))


def seeds(count: int) -> list[int]:
    """Seeds of scenarios for the judge: some of so many, or as many as `MUNTIN_JUDGE` says."""
    asked = os.environ.get("MUNTIN_JUDGE")
    return list(range(int(asked))) if asked else some(range(count))
