"""How many states a task may have to read where nothing divides its work: it is refused before it takes the
machine's memory.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from muntin.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Sequence

SETTING = "MUNTIN_TASK_STATES"
USUAL = 200_000_000


def check_states(pipeline: str, windows: Sequence[str], states: int) -> None:
    """Refuse work for one task over more states than `MUNTIN_TASK_STATES`, for windows that are derived
    together.
    """
    most = _most()
    if states > most:
        raise StateError(
            f"{pipeline}: one task would have to read {states:,} states for {', '.join(windows)}, and"
            f" {SETTING} allows {most:,}: without keys, or where windows of keys depend on each other, work"
            " is not divided, and that of a rollup into few parts. Run fewer batches at once, give the"
            f" pipeline keys, or allow more where there is memory: {SETTING}={states}"
        )


def _most() -> int:
    given = os.environ.get(SETTING, "")
    if given and not (given.isdecimal() and int(given)):
        raise StateError(f"{SETTING}: {given!r} is no number of states; write 50000000")
    return int(given or USUAL)
