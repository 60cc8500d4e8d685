"""How many random cases tests try: few while you work, all of them in `make test`, more on request.

`MUNTIN_CORE=3000` is all, `MUNTIN_CORE=30000` ten times as many.
"""

import os

ALL = 3000
FEW = 300


def share() -> float:
    """1.0 is all."""
    return int(os.environ.get("MUNTIN_CORE", str(FEW))) / ALL


def cases(every: int) -> int:
    """How many of them to try."""
    return max(1, round(every * share()))
