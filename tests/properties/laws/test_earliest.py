"""Where reading begins for the windows that end in a stretch of time: never behind the start of one, and nowhere if none ends there.

windows          [----------)[----------)[----------)
stretch               (after        until]               the first window ends in it: its start
                               (]                        none does: after all instants
"""

import random
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from muntin import windows
from muntin.definition.instants import AFTER_ALL, instant_us
from tests.case_counts import random_seeds

HOUR = 3_600_000_000
BEGIN = instant_us(datetime(2024, 3, 1, tzinfo=UTC), "begin")
EXACT: dict[str, Any] = {
    "tumbling": windows.tumbling("7h"),
    "aligned": windows.tumbling("1d", align_to="05:00"),
    "New York": windows.tumbling("1d", timezone="America/New_York"),
    "months": windows.tumbling("1mo"),
    "months of New York": windows.tumbling("1mo", timezone="America/New_York"),
    "sliding": windows.sliding("1d", step="3h"),
    "closed right": windows.tumbling("1d", closed="right"),
    "so far": windows.cumulating("1d", step="4h"),
}
"""Of these the first start is known."""
OTHERS: dict[str, Any] = {
    "trailing": windows.trailing(days=3, timezone="America/New_York"),
    "trailing months": windows.trailing(months=2),
    "hours of a day": windows.trailing(hours=6, every="1d"),
}


def border(kind: Any, us: int) -> int:
    """A border of the grid, at an instant or before it."""
    return min([start for start, _ in kind.windows_for(us)], default=us)


@pytest.mark.parametrize("name", [*EXACT, *OTHERS])
def test_no_window_begins_before_where_reading_begins(name: str) -> None:
    kind, dice = (EXACT | OTHERS)[name], random.Random(name)
    start, end = kind.grid(border(kind, BEGIN), border(kind, BEGIN + 400 * 24 * HOUR))
    for _ in random_seeds(400):
        after = BEGIN + 100 * 24 * HOUR + dice.randrange(100 * 24 * HOUR)
        after = int(dice.choice([after, *end[np.searchsorted(end, after)] + np.arange(-1, 2)]))
        until = after + dice.choice([0, 1, HOUR, dice.randrange(24 * HOUR), dice.randrange(90 * 24 * HOUR)])
        inside = start[(end > after) & (end <= until)]
        found, first = kind.earliest(after, until), int(inside.min(initial=AFTER_ALL))
        assert found == first if name in EXACT else found <= first, (after, until)
