"""`on_failure` and `ask_within`: what may be said, and what is meant where nothing is."""

import pytest

from muntin.definition.time_limits import ask_within_us
from muntin.errors import DefinitionError

SUITES = {"day": "day.json"}
HOUR_US = 3_600_000_000


@pytest.mark.parametrize(
    ("on_failure", "within", "us"), [("hold", None, None), ("ask", None, 24 * HOUR_US), ("ask", "4h", 4 * HOUR_US), ("ask", 1, 1)]
)
def test_how_long_is_waited(on_failure: str, within: str | None, us: int | None) -> None:
    assert ask_within_us(on_failure, within, SUITES) == us  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("on_failure", "within", "suites", "says"),
    [
        ("asks", None, SUITES, "on_failure.*'ask'"),
        ("ask", None, {}, "no suite can fail"),
        ("hold", "4h", SUITES, "nobody is asked"),
        ("ask", "0s", SUITES, "ask_within"),
        ("ask", "soon", SUITES, "ask_within"),
    ],
)
def test_refused(on_failure: str, within: str | None, suites: dict[str, str], says: str) -> None:
    with pytest.raises(DefinitionError, match=says):
        ask_within_us(on_failure, within, suites)  # type: ignore[arg-type]
