"""`on_failure`: what may be said, and how long is waited for the answer."""

from typing import Any

import pytest

from muntin.definition.time_limits import ask_within_us
from muntin.errors import DefinitionError

SUITES = {"day": "day.json"}
HOUR_US = 3_600_000_000


@pytest.mark.parametrize(("on_failure", "us"), [("hold", None), ("ask", 24 * HOUR_US), ({"ask": "4h"}, 4 * HOUR_US), ({"ask": 1}, 1)])
def test_how_long_is_waited(on_failure: Any, us: int | None) -> None:
    assert ask_within_us(on_failure, SUITES) == us


@pytest.mark.parametrize(
    ("on_failure", "suites", "says"),
    [
        ("asks", SUITES, "on_failure.*'ask'"),
        ("ask", {}, "no suite can fail"),
        ({"ask": "4h"}, {}, "no suite can fail"),
        ({"hold": "4h"}, SUITES, "choose from 'hold', 'ask'"),
        ({"ask": "0s"}, SUITES, "on_failure.*longer than 0"),
        ({"ask": "soon"}, SUITES, "on_failure.*'soon' is not a duration"),
    ],
)
def test_refused(on_failure: Any, suites: dict[str, str], says: str) -> None:
    with pytest.raises(DefinitionError, match=says):
        ask_within_us(on_failure, suites)
