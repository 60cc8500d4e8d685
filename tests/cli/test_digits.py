"""Tables for people show each digit of a number: what is read off a table is the number that was published."""

import math
import random
import struct
from decimal import Decimal

import pytest

from muntin.cli.output import cell
from muntin.extensions.page.html import value
from tests.case_counts import cases
from tests.cli.conftest import RANGE, Muntin, Project

SHOWN = {
    1234567.75: "1,234,567.75",
    0.1 + 0.2: "0.30000000000000004",
    123456789.123: "123,456,789.123",
    -1234567.75: "-1,234,567.75",
    1e15 + 0.5: "1,000,000,000,000,000.5",
    3.0: "3",
    5e-324: "5e-324",
    math.inf: "inf",
    Decimal("12345678901234567890.10"): "12,345,678,901,234,567,890.10",
    Decimal("0E-10"): "0.0000000000",
    2**53 + 1: "9,007,199,254,740,993",
}


@pytest.mark.parametrize("number", SHOWN)
def test_the_table_and_the_page_show_all_digits(number: float) -> None:
    assert cell(number) == value(number) == SHOWN[number]


def test_random_doubles_are_read_off_as_they_are() -> None:
    dice = random.Random(12)
    for _ in range(cases(30_000)):
        [number] = struct.unpack("d", dice.randbytes(8))
        assert math.isnan(number) or float(cell(number).replace(",", "")) == number


@pytest.mark.parametrize(
    "command",
    [("show", "quarter"), ("sql", "select total from quarter"), ("over", *RANGE), ("show", "--changes", "quarter", "--since", "-1")],
)
def test_commands_show_a_sum_of_doubles(command: tuple[str, ...], muntin: Muntin, project: Project) -> None:
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,a,1234567.5\n2020-01-01T01:30:00Z,a,0.25\n")
    project.bring("2020-01-02", "at,sensor,value\n2020-01-02T03:00:00Z,a,0.5\n")
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    told = muntin(*project.arguments(*command)).out
    assert ("1,234,568.25" if command[0] == "over" else "1,234,567.75") in told.split()
