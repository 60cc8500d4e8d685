"""Labels of instants before the year 1, where a frame that holds the year's first event may begin."""

import pytest

from muntin.definition.instants import label, of_label, spell_instant
from muntin.store.paths import StatesPath, parse_states_path

YEAR_1 = -62_135_596_800_000_000
DAY = 86_400_000_000
YEAR_0 = YEAR_1 - 366 * DAY  # a leap year, as 400 and 2000
CASES = [
    (YEAR_1, "00010101T000000Z", "0001-01-01"),
    (YEAR_1 - 1, "00001231T235959.999999Z", "0000-12-31T23:59:59.999999"),
    (YEAR_0, "00000101T000000Z", "0000-01-01"),
    (YEAR_0 + 59 * DAY, "00000229T000000Z", "0000-02-29"),
    (YEAR_0 - DAY, "-0011231T000000Z", "-001-12-31"),
    (YEAR_1 - 1_000_000 * DAY, "-27370204T000000Z", "-2737-02-04"),
]


@pytest.mark.parametrize(("us", "labelled", "spelled"), CASES)
def test_an_instant_before_the_year_1_has_a_label(us: int, labelled: str, spelled: str) -> None:
    assert (label(us), of_label(labelled), spell_instant(us)) == (labelled, us, spelled)


@pytest.mark.parametrize("days", [0, 1, 365, 366, 367, 146_096, 146_097, 146_098, 1_000_000])
def test_a_path_says_what_it_was_made_of(days: int) -> None:
    for us in (YEAR_1 - days * DAY, YEAR_1 - days * DAY - 1, YEAR_1 + days * DAY):
        said = StatesPath(0, 7, us, us, us)
        assert parse_states_path(said.named("0" * 16)) == said
