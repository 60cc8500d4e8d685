"""How many cases tests try: few while you work (`make check`), more in `make test`, as many as you want on request.

`MUNTIN_CORE` is the number of random cases of a test that tries many; others try their share. `make test` says 100, `make soak` goes on.
"""

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

ALL = 3000
FEW = 90


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
    """All of them; every tenth while you work."""
    return list(every)[:: 10 if few() else 1]
