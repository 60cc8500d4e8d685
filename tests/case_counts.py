"""How many cases tests try: few while you work (`make check`), all of them in `make test`, more on request.

`MUNTIN_CORE=3000` is all, `MUNTIN_CORE=30000` ten times as many random cases.
"""

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

ALL = 3000
FEW = 150


def share() -> float:
    """1.0 is all."""
    return int(os.environ.get("MUNTIN_CORE", str(FEW))) / ALL


def cases(every: int) -> int:
    """How many of them to try."""
    return max(1, round(every * share()))


def some(every: Iterable[T]) -> list[T]:
    """All of them, or every fifth while you work."""
    return list(every)[:: 1 if share() >= 1 else 5]
