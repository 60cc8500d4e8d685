"""Windows of which one event would lie in too many are refused when defined; the step that the message gives is possible."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from muntin import windows
from muntin.errors import DefinitionError
from muntin.windows.kinds.sliding import MOST

BUILD: dict[str, Callable[[Any], Any]] = {
    "cumulating": lambda step: windows.cumulating("15m", step=step),
    "cumulating with a grace": lambda step: windows.cumulating("15m", step=step, grace="1d"),
    "cumulating, right": lambda step: windows.cumulating("1d", step=step, closed="right"),
    "cumulating months": lambda step: windows.cumulating("2mo", step=step, timezone="Europe/Berlin"),
    "cumulating local days": lambda step: windows.cumulating("1d", step=step, timezone="Europe/Berlin"),
    "sliding": lambda step: windows.sliding("7h", step=step),
    "sliding, right": lambda step: windows.sliding("1d", step=step, closed="right"),
    "trailing": lambda every: windows.trailing(days=7, every=every),
    "trailing hours": lambda every: windows.trailing(hours=7, every=every),
}


@pytest.mark.parametrize("kind", BUILD)
@pytest.mark.parametrize("step", [1, "1us", "100us"])
def test_steps_that_are_too_short_are_refused_with_one_that_is_not(kind: str, step: str | int) -> None:
    with pytest.raises(DefinitionError, match=rf"too short: an event would lie in [\d,]+ windows, a row each, and {MOST:,}") as refused:
        BUILD[kind](step)
    advice = re.search(r'(?:step|every)="(.+)"', str(refused.value))
    assert advice
    BUILD[kind](advice[1])


def test_as_many_as_are_possible_are_taken() -> None:
    windows.cumulating("1d", step="1s")
    windows.sliding("100s", step="1ms")
    windows.trailing(days=7, every="1m")
    with pytest.raises(DefinitionError, match="100,100 windows"):
        windows.sliding("100100ms", step="1ms")
