"""`muntin over`: any range of the two days, by the sensor or by nothing."""

import csv
import io
import json

import pytest

from tests.cli.conftest import Muntin, Project

# ä  01:00 1  02:00 10, late     27:00 3
# ö           07:00 2
WHOLE = ("--start", "2020-01-01", "--end", "2020-01-02T06:00")


def asked(muntin: Muntin, ran: Project, *more: str) -> list[tuple[str | None, int, int]]:
    told = muntin(*ran.arguments("over", *more, "--json"))
    assert told.status == 0, told.err
    return [(row.get("sensor"), row["readings"], row["total"]) for row in json.loads(told.out)["rows"]]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (WHOLE, [("ä", 3, 14), ("ö", 1, 2)]),
        ((*WHOLE, "--by", "sensor"), [("ä", 3, 14), ("ö", 1, 2)]),
        ((*WHOLE, "--by", ""), [(None, 4, 16)]),
        ((*WHOLE, "--by", "", "--key", "ä"), [(None, 3, 14)]),
        ((*WHOLE, "--key", "sensor=ö"), [("ö", 1, 2)]),
        ((*WHOLE, "--limit", "1"), [("ä", 3, 14)]),
        (("--start", "2020-01-01T02:00", "--end", "2020-01-01T04:00"), [("ä", 1, 10)]),
        (("--start", "2020-01-01T03:00+01:00", "--end", "2020-01-01T04:00"), [("ä", 1, 10)]),
        (("--start", "2020-01-01T08:00", "--end", "2020-01-01T10:00"), []),
        (("--start", "2020-01-01T08:00", "--end", "2020-01-01T10:00", "--by", ""), [(None, 0, None)]),
    ],
)
def test_any_range(muntin: Muntin, ran: Project, more: tuple[str, ...], found: list[tuple[str | None, int, int]]) -> None:
    assert asked(muntin, ran, *more) == found


def test_a_table_for_people_and_one_for_machines(muntin: Muntin, ran: Project) -> None:
    told = muntin(*ran.arguments("over", *WHOLE))
    lines = told.out.splitlines()
    assert lines[0].split() == ["sensor", "window_start", "window_end", "readings", "total", "least", "who"]
    assert lines[-1] == "2 groups; instants in UTC"
    found = list(csv.DictReader(io.StringIO(muntin(*ran.arguments("over", *WHOLE, "--csv")).out)))
    assert [row["total"] for row in found] == ["14", "2"]


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        (("--start", "2020-01-01T01:00", "--end", "2020-01-02"), 2, "nearest borders are 2020-01-01 and 2020-01-01T02:00"),
        (("--start", "2020-01-02", "--end", "2020-01-01"), 2, "start 2020-01-02 is not before end 2020-01-01"),
        ((*WHOLE, "--by", "sensr"), 2, "no key column 'sensr'; there are sensor; did you mean 'sensor'?"),
        ((*WHOLE, "--key", "colour=red"), 2, "no key column 'colour'"),
        ((*WHOLE, "--key", "å"), 3, "no row of the range has 'å'; there are ä, ö"),
        ((*WHOLE, "--json", "--csv"), 2, "exclude each other"),
    ],
)
def test_what_cannot_be_is_told(muntin: Muntin, ran: Project, more: tuple[str, ...], status: int, words: str) -> None:
    told = muntin(*ran.arguments("over", *more))
    assert told.status == status
    assert words in told.err + told.out


def test_one_of_several_keys_that_no_row_has_is_a_warning(muntin: Muntin, ran: Project, caplog: pytest.LogCaptureFixture) -> None:
    told = muntin(*ran.arguments("over", *WHOLE, "--by", "", "--key", "ä", "--key", "x", "--csv"))
    assert told.status == 0
    assert "no row of the range has 'x'" in caplog.text
